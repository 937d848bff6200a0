package openapi

import (
	"net/http"
	"slices"

	"sundry/upstreams/lib/plainjson"
)

// errorResponse describes the errors of a status.
type errorResponse struct {
	Name, EN, ZH string
	status       int // 0: any other
	// Bodies and Lines are an example of every error, as JSON and as text.
	Bodies, Lines plainjson.Object
}

// Cached: that there is no such thing may be cached.
func (r errorResponse) Cached() bool { return r.status == http.StatusNotFound || r.status == 0 }

// Limited: the caller exceeded the rate limit.
func (r errorResponse) Limited() bool { return r.status == http.StatusTooManyRequests }

// Retried: it says when to try again.
func (r errorResponse) Retried() bool {
	return r.Limited() || r.status == http.StatusServiceUnavailable
}

// errorResponses are all, without examples. Any other error is the last.
func errorResponses() []errorResponse {
	return []errorResponse{
		{status: http.StatusBadRequest, Name: "BadRequest", EN: "A parameter is missing or not valid", ZH: "缺少参数或参数有误"},
		{status: http.StatusForbidden, Name: "Forbidden", EN: "The address is not one that this service may reach", ZH: "不允许访问该地址"},
		{status: http.StatusNotFound, Name: "NotFound", EN: "What was asked for does not exist", ZH: "所查询的内容不存在"},
		{
			status: http.StatusTooManyRequests, Name: "TooManyRequests",
			EN: "Too many requests from this address (IPv6: from its /64)", ZH: "来自该地址（IPv6 为其 /64 网段）的请求过多",
		},
		{status: http.StatusInternalServerError, Name: "InternalError", EN: "Something in the service failed", ZH: "服务内部错误"},
		{status: http.StatusBadGateway, Name: "BadGateway", EN: "No source could answer", ZH: "没有可用的数据源"},
		{status: http.StatusServiceUnavailable, Name: "Overloaded", EN: "The service is overloaded", ZH: "服务繁忙"},
		{status: http.StatusGatewayTimeout, Name: "GatewayTimeout", EN: "No source answered in time", ZH: "数据源响应超时"},
		{Name: "Error", EN: "Any other error", ZH: "其他错误"},
	}
}

// responseOf is the place of the response that describes a status.
func responseOf(all []errorResponse, status int) int {
	return slices.IndexFunc(all, func(r errorResponse) bool { return r.status == status || r.status == 0 })
}

// errorResponses have an example of every error.
func (w *writer) errorResponses() []errorResponse {
	all := errorResponses()
	for _, e := range w.Errors {
		r := &all[responseOf(all, e.Status)]
		r.Bodies = append(r.Bodies, plainjson.Member{Name: e.Type, Value: example{e.Type, e.Body}})
		r.Lines = append(r.Lines, plainjson.Member{Name: e.Type, Value: example{e.Type, e.Message + "\n"}})
	}
	return all
}

// errorTypes is the closed list.
func (w *writer) errorTypes() []string {
	var out []string
	for _, e := range w.Errors {
		out = append(out, e.Type)
	}
	return out
}
