package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// call makes a call a request for the endpoint, and its answer a result.
func (s *Set) call(ctx context.Context, t *tool, arguments json.RawMessage) *sdk.CallToolResult {
	outer, ok := ctx.Value(callerKey{}).(*http.Request)
	if !ok {
		return (&problem{Type: "internal", Message: t.Of(internalError())}).result()
	}
	var given map[string]json.RawMessage
	if len(arguments) > 0 && json.Unmarshal(arguments, &given) != nil {
		return (&problem{Type: "invalid_parameter", Message: t.Say("arguments: expected an object", "arguments 应为对象")}).result()
	}
	if name := t.unknown(given); name != "" {
		return t.unknownArgument(name).result()
	}
	answer := s.ask(s.requestFor(outer, t, given))
	return t.result(answer)
}

// unknown is the first of the names that is no argument of the tool; "" for none.
func (t *tool) unknown(given map[string]json.RawMessage) string {
	known := t.argumentNames()
	first := ""
	for name := range given {
		if !slices.Contains(known, name) && (first == "" || name < first) {
			first = name
		}
	}
	return first
}

// unknownArgument is told to agents, who mistake names more often than people, while
// requests of others may have parameters that nobody knows.
func (t *tool) unknownArgument(name string) *problem {
	what := t.Say(`there is no argument "`+name+`"`, "没有参数“"+name+"”")
	if len(name) > 40 {
		name, what = "", t.Say("there is no such argument", "没有这个参数")
	}
	expected := strings.Join(t.argumentNames(), t.Say(", ", "、"))
	if expected == "" {
		expected = t.Say("none", "不带参数")
	}
	return &problem{Type: "invalid_parameter", Parameter: name, Message: what + t.Say("; expected ", "；应为 ") + expected}
}

// passedOn are the fields of the message's request that the endpoint's has too: who
// asks, by which proxies, and how the request is found in logs.
func passedOn() []string {
	return []string{
		"X-Forwarded-For", "Forwarded", "User-Agent", "Sec-Ch-Ua-Mobile", "X-Request-Id", "Traceparent", "Tracestate", "Cdn-Loop",
	}
}

// requestFor is the request for the endpoint, as if the caller had sent it. Its language
// is that of the message.
func (s *Set) requestFor(outer *http.Request, t *tool, given map[string]json.RawMessage) *http.Request {
	h := http.Header{"Accept": {"application/json"}, "Accept-Language": {t.Tag()}}
	for _, name := range passedOn() {
		if v := outer.Header[name]; v != nil {
			h[name] = slices.Clone(v)
		}
	}
	r := &http.Request{
		Method: http.MethodGet, Header: h, Body: http.NoBody, Host: outer.Host, RemoteAddr: outer.RemoteAddr,
		Proto: outer.Proto, ProtoMajor: outer.ProtoMajor, ProtoMinor: outer.ProtoMinor, TLS: outer.TLS,
		URL: &url.URL{Path: s.cfg.BasePath + "/api/" + t.name, RawQuery: t.query(given)},
	}
	r.RequestURI = r.URL.RequestURI()
	return r.WithContext(outer.Context())
}

// query is the query with these arguments. The form is named, because the default for
// agents is not always that of the endpoint.
func (t *tool) query(given map[string]json.RawMessage) string {
	values := url.Values{}
	for name, raw := range given {
		if text := textOf(raw); text != "" {
			values.Set(name, text)
		}
	}
	if t.form != nil && !values.Has(t.form.Name) {
		values.Set(t.form.Name, t.forms[0].value)
	}
	return values.Encode()
}

// textOf is the value of an argument as queries have it; "" for null. What is neither a
// text nor a number stays as it is written, and the endpoint says what is wrong with it.
func textOf(raw json.RawMessage) string {
	var text *string
	if json.Unmarshal(raw, &text) == nil {
		if text == nil {
			return ""
		}
		return *text
	}
	return wholeNumber(string(raw))
}

// wholeNumber: some agents write 3.0.
func wholeNumber(text string) string {
	if whole, zeros, ok := strings.Cut(text, "."); ok && strings.Trim(zeros, "0") == "" {
		return whole
	}
	return text
}
