package openapi

import (
	"encoding/json"
	"net/http"
	"slices"

	"sundry/proxy/site/apidoc"
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
		all["200"] = response{o.Say("The answer.", "响应。"), o.headersOfAnswers(), content}
		all["304"] = ref("responses", "NotModified")
	}
	if apidoc.Has(o.Endpoint, apidoc.Redirect) || slices.ContainsFunc(o.Forms, apidoc.MayRedirect) {
		all["302"] = ref("responses", "Found")
	}
	return all
}

// headersOfAnswers are those that an answer with 200 can have. With a callback, that may be
// an error.
func (o *operation) headersOfAnswers() object {
	headers := object{}
	for _, name := range []string{"Age", "Cache-Control", "Cache-Status", "ETag", "RateLimit", "RateLimit-Policy", "Sundry-Source", "Vary", "X-Request-Id"} {
		headers[name] = ref("headers", name)
	}
	if o.Callback() != nil {
		for _, name := range []string{"Content-Language", "Retry-After", "Sundry-Error"} {
			headers[name] = o.part(name, false)
		}
	}
	return headers
}

// content is what the endpoint answers with, by type, in the order of its forms.
func (o *operation) content() plainjson.Object {
	var out plainjson.Object
	add := func(typ string, m media) {
		if typ != "" && !slices.ContainsFunc(out, func(o plainjson.Member) bool { return o.Name == typ }) {
			out = append(out, plainjson.Member{Name: typ, Value: m})
		}
	}
	for _, f := range o.Forms {
		what := apidoc.FormOf(f)
		switch what.Shape {
		case apidoc.JSON:
			add(what.Media, o.json())
		case apidoc.Picture, apidoc.SVG:
			add(what.Media, media{})
		default:
			add(what.Media, text(o.sample.Text(f, o.Language)))
		}
	}
	if o.Callback() != nil {
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
	if !apidoc.Has(o.Endpoint, apidoc.JSON) {
		return nil
	}
	answer, data := schemaName(o.Name, "Answer"), schemaName(o.Name, "Data")
	schema := o.sample.Shape.Schema(o.Fields, o.Say)
	schema["title"], schema["description"] = data, o.Say(o.EN, o.ZH)
	return plainjson.Object{
		{Name: answer, Value: plainjson.Object{
			{Name: "title", Value: answer},
			{Name: "description", Value: o.Say("The JSON answer of `"+o.Name+"`.", "`"+o.Name+"` 的 JSON 响应。")},
			{Name: "type", Value: "object"},
			{Name: "properties", Value: plainjson.Object{
				{Name: "code", Value: object{"type": "integer", "const": http.StatusOK, "description": o.Say("The HTTP status.", "HTTP 状态码。")}},
				{Name: "message", Value: object{"type": "string", "const": "ok", "description": o.Say("Always ok.", "总是 ok。")}},
				{Name: "data", Value: ref("schemas", data)},
			}},
			{Name: "required", Value: []string{"code", "message", "data"}},
		}},
		{Name: data, Value: schema},
	}
}
