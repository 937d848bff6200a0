package openapi

import (
	"strings"

	"sundry/proxy/site/i18n"
	"sundry/upstreams/lib/plainjson"
)

// header is a header field of an answer.
type header struct {
	Description string `json:"description"`
	Required    bool   `json:"required,omitempty"`
	Schema      object `json:"schema"`
	Example     any    `json:"example,omitempty"`
}

// answerHeaders are those that an answer from the cache can have.
func answerHeaders() []string {
	return []string{"Age", "Cache-Control", "Cache-Status", "ETag", "RateLimit", "RateLimit-Policy", "Sundry-Source", "Vary", "X-Request-Id"}
}

// headerRefs refer to the described headers of these names.
func headerRefs(names ...string) object {
	out := object{}
	for _, name := range names {
		out[name] = ref("headers", name)
	}
	return out
}

func (w *writer) headers() plainjson.Object {
	word := object{"type": "string"}
	return plainjson.Object{
		{Name: "Age", Value: header{
			Description: w.say("Seconds since the answer was created; on answers from the cache.", "响应生成至今的秒数；仅来自缓存的响应才有。"),
			Schema:      object{"type": "integer", "minimum": 0}, Example: 42,
		}},
		{Name: "Cache-Control", Value: header{
			Description: w.say("Which caches may store the answer, and how long. `max-age` is the whole freshness lifetime: `max-age` minus `Age` is the time that remains.",
				"哪些缓存可以保存该响应、保存多久。`max-age` 是完整的保鲜期，减去 `Age` 即剩余时间。"),
			Schema: word, Example: "public, max-age=3600",
		}},
		{Name: "Cache-Status", Value: header{
			Description: w.say("How the cache came to the answer (RFC 9211). `sundry-last-resort` marks an answer of a source of last resort, which is asked when all others have failed.",
				"缓存如何得到该响应（RFC 9211）。`sundry-last-resort` 表示响应来自兜底数据源，即其他数据源都失败后才会询问的数据源。"),
			Schema: word, Example: "sundry; hit; ttl=3558",
		}},
		{Name: "ETag", Value: header{
			Description: w.say("Identifies this answer: send it in `If-None-Match` to get 304 while the answer is the same. Random picks have none.",
				"响应的标识：放进 `If-None-Match`，内容不变时得到 304。随机的答案没有此字段。"),
			Schema: word, Example: `W/"3w5e11264sgsf"`,
		}},
		{Name: "RateLimit", Value: w.rateLimit(false)},
		{Name: "RateLimit-Policy", Value: w.rateLimitPolicy(false)},
		{Name: "Sundry-Source", Value: header{Description: w.say("The source that the data came from.", "数据来自哪个数据源。"), Schema: word, Example: "table"}},
		{Name: "Vary", Value: header{Description: w.say("The request fields on which the answer depends.", "响应取决于哪些请求字段。"), Schema: word, Example: "Accept-Encoding"}},
		{Name: "X-Request-Id", Value: header{
			Description: w.say("Identifies this request in the logs: name it when you report a problem.", "该请求在日志中的标识，反馈问题时请附上。"),
			Schema:      word, Example: "4f1c2a9be07d3c58",
		}},
	}
}

// rateLimit tells what remains of the caller's rate limit.
func (w *writer) rateLimit(required bool) header {
	return header{
		Description: w.say("`r` requests may be made at once, and in `t` seconds one more (draft-ietf-httpapi-ratelimit-headers). Sent only when few requests remain.",
			"当前可立即再发 `r` 次请求，`t` 秒后再多一次（draft-ietf-httpapi-ratelimit-headers）。仅在所剩不多时发送。"),
		Required: required, Schema: object{"type": "string", "pattern": `^"default";r=[0-9]+;t=[1-9][0-9]*$`}, Example: `"default";r=0;t=2`,
	}
}

func (w *writer) rateLimitPolicy(required bool) header {
	return header{
		Description: w.say("`q` requests may be made at once; after `w` seconds without a request all of them are available again. Sent with RateLimit.",
			"最多可一次连发 `q` 次请求；`w` 秒内不发请求即全部恢复。与 RateLimit 一同发送。"),
		Required: required, Schema: object{"type": "string", "pattern": `^"default";q=[1-9][0-9]*;w=[1-9][0-9]*$`}, Example: `"default";q=80;w=4`,
	}
}

func (w *writer) retryAfter(required bool) header {
	return header{
		Description: w.say("Seconds after which to try again.", "多少秒后可以重试。"), Required: required,
		Schema: object{"type": "integer", "minimum": 1}, Example: 2,
	}
}

// sundryError has the type of an error, also where the body cannot say it.
func (w *writer) sundryError(required bool) header {
	return header{
		Description: w.say("The type of the error, and the parameter that is at fault if there is one; as in the body, where that is JSON.",
			"错误类型；若由某个参数引起，还有该参数名。与 JSON 正文中的一致。"),
		Required: required, Schema: object{"type": "string", "pattern": "^(" + strings.Join(w.errorTypes(), "|") + ")(; parameter=[a-z][a-z0-9_]*)?$"},
		Example: "invalid_parameter; parameter=size",
	}
}

// contentLanguage is the language of an error. A picture says it in both.
func (w *writer) contentLanguage(required bool) header {
	both := i18n.English.Tag() + ", " + i18n.Chinese.Tag()
	return header{
		Description: w.say("The language of the message, by `lang` or else by `Accept-Language`; a picture tells it in both.", "错误信息的语言，取决于 `lang`，其次是 `Accept-Language`；图片同时使用两种语言。"),
		Required:    required, Schema: object{"type": "string", "enum": []string{i18n.English.Tag(), i18n.Chinese.Tag(), both}}, Example: i18n.English.Tag(),
	}
}

// errorVary says on which fields of the request an error depends.
func (w *writer) errorVary() header {
	return header{
		Description: w.say("The request fields on which the error depends: `Accept-Language` unless `lang` decides, and `Accept` where the error may be cached.",
			"错误内容取决于哪些请求字段：未用 `lang` 指定语言时有 `Accept-Language`，可以缓存的错误还有 `Accept`。"),
		Schema: object{"type": "string", "enum": []string{"Accept", "Accept-Language", "Accept, Accept-Language"}}, Example: "Accept-Language",
	}
}
