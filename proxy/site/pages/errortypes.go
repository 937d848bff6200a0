package pages

import (
	"net/http"
	"slices"

	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
)

// errorRow is an error that callers have to expect.
type errorRow struct {
	Type    string
	Status  int
	Meaning string
}

// errorRows are the errors of an endpoint, by status. A nil one stands for all there are.
func errorRows(l i18n.Language, e *catalog.Endpoint) []errorRow {
	all := []errorRow{
		{"missing_parameter", http.StatusBadRequest, say(l, "A required parameter is missing.", "缺少必填参数。")},
		{"invalid_parameter", http.StatusBadRequest, say(l, "A value is not allowed; the message says what is, with an example.", "参数值有误；message 会说明允许的取值并举例。")},
		{"forbidden_target", http.StatusForbidden, say(l, "The address is not on the public internet.", "目标地址不在公网，不允许访问。")},
		{"not_found", http.StatusNotFound, say(l, "What was asked for does not exist.", "查询的内容不存在。")},
		{"rate_limited", http.StatusTooManyRequests, say(l, "Too many requests from your address; Retry-After says when to try again.", "请求过于频繁；何时重试见响应头 Retry-After。")},
		{"internal", http.StatusInternalServerError, say(l, "A fault of this service.", "服务内部错误。")},
		{"upstream_unavailable", http.StatusBadGateway, say(l, "No source is available at the moment.", "所有数据源暂时不可用。")},
		{"overloaded", http.StatusServiceUnavailable, say(l, "The service is busy; Retry-After says when to try again.", "服务繁忙；何时重试见响应头 Retry-After。")},
		{"upstream_timeout", http.StatusGatewayTimeout, say(l, "No source answered in time.", "所有数据源都未及时回复。")},
	}
	if e == nil {
		return all
	}
	return slices.DeleteFunc(all, func(r errorRow) bool { return !mayFail(e, r.Type) })
}

// mayFail reports whether the endpoint can answer with an error of the type.
func mayFail(e *catalog.Endpoint, errorType string) bool {
	has := func(is func(*catalog.Param) bool) bool {
		return slices.ContainsFunc(e.Params, func(p *catalog.Param) bool { return !p.Derived() && is(p) })
	}
	switch errorType {
	case "missing_parameter":
		return has(func(p *catalog.Param) bool { return p.Required })
	case "invalid_parameter":
		return has(func(*catalog.Param) bool { return true })
	case "forbidden_target":
		return has(func(p *catalog.Param) bool { return slices.Contains([]string{"host", "site", "url"}, p.Type) })
	case "not_found":
		return has(func(p *catalog.Param) bool { return p.Role == catalog.RoleInput })
	case "upstream_unavailable", "upstream_timeout":
		return asksOthers(e)
	}
	return true
}

// asksOthers reports whether the endpoint has a source that is a remote service.
func asksOthers(e *catalog.Endpoint) bool {
	for _, s := range e.Sources() {
		if s.Kind.Remote {
			return true
		}
	}
	return false
}
