package mcp

import (
	"encoding/json"
	"mime"
	"net/http"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sundry/upstreams/lib/plainjson"
)

// problem is an error as agents are told it. Type is one of those that other callers
// get, or too_large.
type problem struct {
	Type       string `json:"type"`
	Message    string `json:"message"`
	Parameter  string `json:"parameter,omitempty"`
	RetryAfter int    `json:"retry_after,omitempty"` // seconds
	RequestID  string `json:"request_id,omitempty"`
}

func (p *problem) result() *sdk.CallToolResult {
	text, _ := plainjson.Marshal(object{"error": p}) // texts and numbers
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: strings.TrimSpace(string(text))}}}
}

// result is what an agent gets of an answer.
func (t *tool) result(a *answer) *sdk.CallToolResult {
	if a.overflow {
		return (&problem{Type: "too_large", RequestID: a.header.Get("X-Request-Id"),
			Message: t.Say("the answer has more than ", "响应超过 ") + strconv.Itoa(maxAnswer) + t.Say(" bytes; ask for another form, which may have a link", " 字节；请改用其他返回格式，其中可能有链接")}).result()
	}
	if a.status >= http.StatusBadRequest {
		p := a.problem()
		if p.Message == "" {
			p.Message = t.Of(internalError())
		}
		return p.result()
	}
	result := t.content(a)
	result.Meta = a.provenance()
	return result
}

// problem reads an error, whatever its form.
func (a *answer) problem() *problem {
	typ, parameter, _ := strings.Cut(a.header.Get("Sundry-Error"), "; parameter=")
	p := &problem{Type: typ, Parameter: parameter, Message: strings.TrimSpace(a.body.String()), RequestID: a.header.Get("X-Request-Id")}
	p.RetryAfter, _ = strconv.Atoi(a.header.Get("Retry-After"))
	var body struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(a.body.Bytes(), &body) == nil {
		p.Message = body.Message
	}
	return p
}

// provenance is what other callers see in the header: where the answer comes from, and
// how old it is.
func (a *answer) provenance() sdk.Meta {
	meta := sdk.Meta{}
	for name, field := range map[string]string{"sundry/source": "Sundry-Source", "sundry/cache-status": "Cache-Status", "sundry/request-id": "X-Request-Id"} {
		if v := a.header.Get(field); v != "" {
			meta[name] = v
		}
	}
	if age, err := strconv.Atoi(a.header.Get("Age")); err == nil {
		meta["sundry/age"] = age
	}
	return meta
}

// content is the answer in the words of the protocol.
func (t *tool) content(a *answer) *sdk.CallToolResult {
	typ, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	switch {
	case a.header.Get("Location") != "":
		return t.link(a.header.Get("Location"))
	case typ == "application/json":
		return t.json(a.body.Bytes())
	case strings.HasPrefix(typ, "image/") && typ != "image/svg+xml":
		return t.image(typ, a.body.Bytes())
	}
	return text(a.body.String())
}

func (t *tool) link(to string) *sdk.CallToolResult {
	return &sdk.CallToolResult{
		Content:           []sdk.Content{&sdk.ResourceLink{URI: to, Name: t.name}, &sdk.TextContent{Text: to}},
		StructuredContent: object{"link": to},
	}
}

// json is the data alone: that it is an answer, the result says. Data that is not as the
// schema says comes as text, which clients do not check.
func (t *tool) json(body []byte) *sdk.CallToolResult {
	var envelope struct {
		Data json.RawMessage `json:"data"`
	}
	if json.Unmarshal(body, &envelope) != nil || !t.describes(envelope.Data) {
		return text(string(body))
	}
	structured := append(append([]byte(`{"data":`), envelope.Data...), '}')
	return &sdk.CallToolResult{
		Content:           []sdk.Content{&sdk.TextContent{Text: string(structured)}},
		StructuredContent: json.RawMessage(structured),
	}
}

// image is a picture in the result. Where models know no such pictures, it is a resource
// that has one.
func (t *tool) image(typ string, body []byte) *sdk.CallToolResult {
	var content sdk.Content = &sdk.ImageContent{Data: body, MIMEType: typ}
	switch typ {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	default:
		content = &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "sundry:" + t.name, MIMEType: typ, Blob: body}}
	}
	return &sdk.CallToolResult{
		Content:           []sdk.Content{content},
		StructuredContent: object{"image": ordered{{Name: "type", Value: typ}, {Name: "bytes", Value: len(body)}}},
	}
}

func text(body string) *sdk.CallToolResult {
	body = strings.TrimSuffix(body, "\n")
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: body}}, StructuredContent: object{"text": body}}
}
