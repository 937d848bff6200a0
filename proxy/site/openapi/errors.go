package openapi

import (
	"maps"
	"net/http"
	"slices"

	"sundry/upstreams/lib/plainjson"
)

// component names a shared response, and says what it means.
type component struct {
	status       int // 0 for any
	name, en, zh string
}

func components() []component {
	return []component{
		{http.StatusFound, "Found", "", ""},
		{http.StatusNotModified, "NotModified", "", ""},
		{http.StatusBadRequest, "BadRequest", "A parameter is missing or not valid", "缺少参数或参数有误"},
		{http.StatusForbidden, "Forbidden", "The address is not one that this service may reach", "不允许访问该地址"},
		{http.StatusNotFound, "NotFound", "What was asked for does not exist", "所查询的内容不存在"},
		{http.StatusTooManyRequests, "TooManyRequests", "Too many requests from this address (IPv6: from its /64)", "来自该地址（IPv6 为其 /64 网段）的请求过多"},
		{http.StatusInternalServerError, "InternalError", "Something in the service failed", "服务内部错误"},
		{http.StatusBadGateway, "BadGateway", "No upstream could answer", "没有可用的上游"},
		{http.StatusServiceUnavailable, "Overloaded", "The service is overloaded", "服务繁忙"},
		{http.StatusGatewayTimeout, "GatewayTimeout", "No upstream answered in time", "上游响应超时"},
		{0, "Error", "Any other error", "其他错误"},
	}
}

// responseName is the component that describes a status; the one for any other, if
// none is for it alone.
func responseName(status int) string {
	all := components()
	i := slices.IndexFunc(all, func(c component) bool { return c.status == status || c.status == 0 })
	return all[i].name
}

func sortedKeys(m object) []string { return slices.Sorted(maps.Keys(m)) }

// components are what the operations refer to.
func (w *writer) components(schemas plainjson.Object) plainjson.Object {
	var responses plainjson.Object
	for _, c := range components() {
		var r response
		switch c.status {
		case http.StatusFound:
			r = w.found()
		case http.StatusNotModified:
			r = w.notModified()
		default:
			r = w.errorResponse(c)
		}
		responses = append(responses, plainjson.Member{Name: c.name, Value: r})
	}
	return plainjson.Object{
		{Name: "schemas", Value: append(schemas, plainjson.Member{Name: "Error", Value: w.errorSchema()}, plainjson.Member{Name: "ErrorType", Value: w.errorTypeSchema()})},
		{Name: "parameters", Value: object{"lang": w.languageParameter()}},
		{Name: "headers", Value: w.headers()},
		{Name: "responses", Value: responses},
	}
}

func (w *writer) errorResponse(c component) response {
	limited, overloaded := c.status == http.StatusTooManyRequests, c.status == http.StatusServiceUnavailable
	headers := headerRefs("Cache-Control", "RateLimit", "RateLimit-Policy", "X-Request-Id")
	if c.status == http.StatusNotFound || c.status == 0 { // that there is no such thing may be cached
		maps.Copy(headers, headerRefs("Age", "Cache-Status", "Sundry-Source"))
	}
	if limited {
		headers["RateLimit"], headers["RateLimit-Policy"] = w.rateLimit(true), w.rateLimitPolicy(true)
	}
	headers["Retry-After"], headers["Sundry-Error"] = w.retryAfter(limited || overloaded), w.sundryError(true)
	headers["Content-Language"], headers["Vary"] = w.contentLanguage(true), w.errorVary()
	return response{w.say(c.en+". "+errorFormsEN, c.zh+"。"+errorFormsZH), headers, w.errorContent(c.status)}
}

const (
	errorFormsEN = "The body is one line of text if the query has `type=text`, and a small picture that says so where a picture was asked for: by the form " +
		"(but a mistake in the parameters is still told in JSON to who accepts anything), or by `Accept`. With a callback, where the endpoint has one, " +
		"the callback is called with the same body, and the HTTP status is 200."
	errorFormsZH = "查询含 `type=text` 时正文为一行文本；请求的是图片（由格式或 `Accept` 决定）时返回一张写明错误的小图，但参数错误对不限类型的调用者仍以 JSON 说明。" +
		"接口支持回调且带有回调参数时，以同样的内容调用回调，HTTP 状态码为 200。"
)

// errorContent has an example of every error of a status.
func (w *writer) errorContent(status int) plainjson.Object {
	var bodies, lines plainjson.Object
	for _, e := range w.Errors {
		if responseName(e.Status) == responseName(status) {
			bodies = append(bodies, plainjson.Member{Name: e.Type, Value: example{e.Type, e.Body}})
			lines = append(lines, plainjson.Member{Name: e.Type, Value: example{e.Type, e.Message + "\n"}})
		}
	}
	return plainjson.Object{
		{Name: "application/json", Value: examples{ref("schemas", "Error"), bodies}},
		{Name: "text/plain", Value: examples{object{"type": "string"}, lines}},
		{Name: "image/png", Value: media{}},
		{Name: "image/svg+xml", Value: media{}},
	}
}

// examples is a body with several of them.
type examples struct {
	Schema   object           `json:"schema"`
	Examples plainjson.Object `json:"examples,omitempty"`
}

// errorTypes is the closed list.
func (w *writer) errorTypes() []string {
	var out []string
	for _, e := range w.Errors {
		out = append(out, e.Type)
	}
	return out
}

// errorTypeSchema is the closed list.
func (w *writer) errorTypeSchema() plainjson.Object {
	return plainjson.Object{
		{Name: "title", Value: "ErrorType"},
		{Name: "description", Value: w.say("The type of an error, of a closed list.", "错误类型，取自固定的列表。")},
		{Name: "type", Value: "string"},
		{Name: "enum", Value: w.errorTypes()},
	}
}

// errorSchema describes the JSON of every error.
func (w *writer) errorSchema() plainjson.Object {
	word := func(en, zh string) object { return object{"type": "string", "description": w.say(en, zh)} }
	return plainjson.Object{
		{Name: "title", Value: "Error"},
		{Name: "description", Value: w.say("An error.", "错误。")},
		{Name: "type", Value: "object"},
		{Name: "properties", Value: plainjson.Object{
			{Name: "code", Value: object{
				"type": "integer", "minimum": http.StatusBadRequest, "maximum": 599,
				"description": w.say("The HTTP status, also where a callback is called with 200.", "HTTP 状态码；以 200 调用回调时也如实给出。"),
			}},
			{Name: "message", Value: word("What is wrong, in a sentence for people.", "用一句话说明错误，供人阅读。")},
			{Name: "error", Value: plainjson.Object{
				{Name: "description", Value: w.say("The same for programs.", "供程序判断的内容。")},
				{Name: "type", Value: "object"},
				{Name: "properties", Value: plainjson.Object{
					{Name: "type", Value: ref("schemas", "ErrorType")},
					{Name: "parameter", Value: word("The parameter that is at fault, if there is one.", "出错的参数名；与参数无关时没有此字段。")},
					{Name: "request_id", Value: word("Identifies the request, as X-Request-Id does.", "请求标识，与 X-Request-Id 相同。")},
				}},
				{Name: "required", Value: []string{"type", "request_id"}},
			}},
		}},
		{Name: "required", Value: []string{"code", "message", "error"}},
	}
}
