package openapi

import (
	"encoding/json"
	"net/http"
	"slices"

	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/plainjson"
)

// media is a body in one type.
type media struct {
	Schema  any `json:"schema,omitempty"`
	Example any `json:"example,omitempty"`
}

// text is a body that is text; an example of "" is none.
func text(sample string) media {
	m := media{Schema: object{"type": "string"}}
	if sample != "" {
		m.Example = sample
	}
	return m
}

// response is an answer.
type response struct {
	Description string           `json:"description"`
	Headers     object           `json:"headers,omitempty"`
	Content     plainjson.Object `json:"content,omitempty"`
}

// answers are the answers that are no errors, by status.
func (o *operation) answers() object {
	all, content := object{}, o.content()
	if len(content) > 0 {
		all["200"] = response{o.say("The answer.", "响应。"), o.headersOfAnswers(), content}
		all["304"] = ref("responses", responseName(http.StatusNotModified))
	}
	if slices.ContainsFunc(o.Forms, func(f *catalog.Form) bool { return f.Kind == "redirect" && f.PictureProxy == nil }) {
		all["302"] = ref("responses", responseName(http.StatusFound))
	}
	return all
}

// headersOfAnswers are those that an answer with 200 can have. With a callback, that may be
// an error.
func (o *operation) headersOfAnswers() object {
	headers := headerRefs(answerHeaders()...)
	if o.hasCallback() {
		headers["Content-Language"], headers["Retry-After"], headers["Sundry-Error"] = o.contentLanguage(false), o.retryAfter(false), o.sundryError(false)
	}
	return headers
}

func (o *operation) hasCallback() bool {
	return o.Callback() != nil
}

// content is what the endpoint answers with, by type, in the order of its forms.
func (o *operation) content() plainjson.Object {
	var out plainjson.Object
	add := func(typ string, m media) {
		if !slices.ContainsFunc(out, func(o plainjson.Member) bool { return o.Name == typ }) {
			out = append(out, plainjson.Member{Name: typ, Value: m})
		}
	}
	for _, f := range o.Forms {
		switch {
		case f.Kind == "json":
			add("application/json", o.json())
		case f.Kind == "text":
			add("text/plain", text(o.texts[f.Name]))
		case f.Kind == "markdown":
			add("text/markdown", text(o.texts[f.Name]))
		case f.Kind == "script":
			add("text/javascript", text(""))
		case f.Kind == "interstitial":
			add("text/html", text(""))
		case f.IsSVG():
			add("image/svg+xml", media{})
		case f.IsPicture():
			add("image/*", media{})
		}
	}
	if o.hasCallback() {
		add("text/javascript", text(""))
	}
	return out
}

// json is the JSON answer.
func (o *operation) json() media {
	m := media{Schema: ref("schemas", schemaName(o.Name, "Answer"))}
	if o.sample.Data != nil {
		m.Example = json.RawMessage(o.sample.Answer)
	}
	return m
}

// schemas are those of the JSON answer and of the data in it; none without such a form.
func (o *operation) schemas() plainjson.Object {
	if !slices.ContainsFunc(o.Forms, func(f *catalog.Form) bool { return f.Kind == "json" }) {
		return nil
	}
	answer, data := schemaName(o.Name, "Answer"), schemaName(o.Name, "Data")
	schema := o.sample.Shape.SchemaIn(o.Fields, o.say)
	schema["title"], schema["description"] = data, o.say(o.EN, o.ZH)
	return plainjson.Object{
		{Name: answer, Value: plainjson.Object{
			{Name: "title", Value: answer},
			{Name: "description", Value: o.say("The JSON answer of `"+o.Name+"`.", "`"+o.Name+"` 的 JSON 响应。")},
			{Name: "type", Value: "object"},
			{Name: "properties", Value: plainjson.Object{
				{Name: "code", Value: object{"type": "integer", "const": http.StatusOK, "description": o.say("The HTTP status.", "HTTP 状态码。")}},
				{Name: "message", Value: object{"type": "string", "const": "ok", "description": o.say("Always ok.", "总是 ok。")}},
				{Name: "data", Value: ref("schemas", data)},
			}},
			{Name: "required", Value: []string{"code", "message", "data"}},
		}},
		{Name: data, Value: schema},
	}
}

// found is the answer of forms that redirect.
func (w *writer) found() response {
	headers := headerRefs(answerHeaders()...)
	headers["Location"] = header{
		Description: w.say("The target, as an absolute address.", "跳转目标的完整地址。"), Required: true,
		Schema: object{"type": "string", "format": "uri"},
	}
	return response{w.say("Redirects to the target.", "跳转到目标地址。"), headers, plainjson.Object{{Name: "text/plain", Value: text("")}}}
}

// notModified is the answer to who has the same already.
func (w *writer) notModified() response {
	return response{w.say("The answer is the one that If-None-Match names; it is not sent again.", "内容与 If-None-Match 所指的相同，不再重复发送。"),
		headerRefs("Age", "Cache-Control", "Cache-Status", "ETag", "RateLimit", "RateLimit-Policy", "X-Request-Id"), nil}
}
