// Package httpsource is the kind of source that asks over HTTP, with what comes
// before its request (steps) and after it (parts, pictures). What the package
// promises:
//
//   - A value cannot leave its place: in a path, a query, a header or a form it is
//     escaped for it.
//   - No reply can hurt: size, nesting, memory and time are bounded, pictures are
//     verified by their bytes.
//   - Redirects and pictures stay with declared hosts; what a caller names is
//     reached through the guard alone.
//   - No error holds a URL: it may have a secret in it, or a caller's input.
package httpsource

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
	"golang.org/x/text/encoding"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/host"
	"sundry/upstreams/jq"
)

// Bounds of an HTTP source.
const (
	defaultMax   = 2 << 20
	maxRedirects = 3
	userAgent    = "Mozilla/5.0 (compatible; Sundry/1.0)"
)

// request is a compiled HTTP source.
type request struct {
	host         *host.Host
	base         *url.URL // scheme and host; the path is a template
	path         jq.Template
	query        []pair
	raw          jq.Template // instead of query; without literals for none
	encoded      bool        // raw is a placeholder whose value is a query as it is
	headers      []pair
	form         []pair                    // makes it a POST
	json         *jq.Program               // likewise
	secretJSON   bool                      // json makes use of secrets
	decode       func([]byte) (any, error) // nil: a picture
	charset      encoding.Encoding
	limit        int64
	parts        []any
	partsProgram *jq.Program // gives the parts
	// secretParts: listing makes use of secrets.
	secretParts bool
	trace       bool
	client      *http.Client
}

type pair struct {
	name  string
	value jq.Template
}

// Compile compiles the section of a source of the kind http.
func Compile(c *upstreams.Compiler, section *yaml.Node) upstreams.Compiled {
	var spec HTTPSpec
	c.Decode(section, &spec)
	q := compileHTTP(&spec, c.Line, c)
	return upstreams.Compiled{Fetcher: q, Host: q.host, Remote: true}
}

func compileHTTP(spec *HTTPSpec, line int, c *upstreams.Compiler) *request {
	scope, problems := c.Scope, c.Problems
	q := &request{limit: defaultMax, trace: spec.Trace, partsProgram: c.Program(spec.Parts.Program)}
	for _, part := range spec.Parts.List {
		q.parts = append(q.parts, part)
	}
	if spec.Parts.given() {
		scope = scope.With("part")
	}
	if spec.Max > 0 {
		q.limit = int64(spec.Max) << 10
	}
	u, err := url.Parse(jq.Placeholder.ReplaceAllString(spec.URL.Value, "x"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" {
		problems.Add(max(spec.URL.Line, line), "url: %q: want an http or https address with a literal host and no query, as in https://api.example.org/v1/{id}; the query goes under query:", spec.URL.Value)
		return q
	}
	q.base = &url.URL{Scheme: u.Scheme, Host: u.Host}
	if !strings.HasPrefix(spec.URL.Value, q.base.String()) {
		problems.Add(spec.URL.Line, "url: the host must be literal, without placeholders")
	}
	path := strings.TrimPrefix(spec.URL.Value, q.base.String())
	q.path = jq.CompileTemplate(declare.Text{Value: path, Line: spec.URL.Line}, scope, problems)
	q.query = compilePairs(spec.Query, scope, problems)
	for _, p := range q.query {
		p.value.EscapeLiterals(url.QueryEscape)
	}
	if spec.RawQuery.Value != "" {
		if len(spec.Query) > 0 {
			problems.Add(spec.RawQuery.Line, "raw_query: beside query; want one of them")
		}
		q.raw = jq.CompileTemplate(spec.RawQuery, scope, problems)
		q.encoded = q.raw.Bare()
	}
	q.headers = compilePairs(spec.Headers, scope, problems)
	q.form, q.json = compilePairs(spec.Form, scope, problems), c.Program(spec.JSON)
	for _, p := range q.form {
		p.value.EscapeLiterals(url.QueryEscape)
	}
	if q.form != nil && q.json != nil {
		problems.Add(spec.URL.Line, "form beside json; want one of them")
	}
	q.setDecoder(spec, problems)
	q.client = client(c.Env, newHostSet(append([]declare.Text{{Value: u.Host, Line: spec.URL.Line}}, spec.Hosts...), problems))
	switch spec.Redirects {
	case "", "follow":
	case "none":
		q.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	default:
		problems.Add(spec.URL.Line, "redirects: %q: want follow or none", spec.Redirects)
	}
	q.host = c.Env.Hosts.Get(u.Host)
	q.secretJSON, q.secretParts = scope.Reads(spec.JSON), scope.Reads(spec.Parts.Program)
	return q
}

func (q *request) setDecoder(spec *HTTPSpec, problems *declare.Problems) {
	switch spec.Decode {
	case "", "json":
		q.decode = DecodeJSON
	case "jsonp":
		q.decode = decodeWrapped
	case "text":
		q.decode = func(b []byte) (any, error) { return string(b), nil }
	case "script":
		q.decode = scriptDecoder(spec.Marker)
	case "image":
	default:
		problems.Add(spec.URL.Line, "decode: %q: want json, jsonp, script, text or image", spec.Decode)
	}
	if (spec.Decode == "script") != (spec.Marker != "") {
		problems.Add(spec.URL.Line, "marker: belongs to decode: script, as in marker: window.__INITIAL_STATE__")
	}
	var ok bool
	if q.charset, ok = charset(spec.Charset); !ok {
		problems.Add(spec.URL.Line, "charset: %q: want utf-8, gbk, gb18030 or big5", spec.Charset)
	}
}

// compilePairs keeps names in order, so that equal calls send equal requests.
func compilePairs(m map[string]declare.Text, scope *jq.Scope, problems *declare.Problems) []pair {
	var out []pair
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, pair{name, jq.CompileTemplate(m[name], scope, problems)})
	}
	return out
}

// fetchOne makes the request and decodes the reply.
func (q *request) fetchOne(ctx context.Context, in *upstreams.Input) (*upstreams.Reply, error) {
	req, _, err := q.render(ctx, in)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Internal, "%w", err)
	}
	return q.roundTrip(req, in)
}

// roundTrip sends a request and decodes the reply.
func (q *request) roundTrip(req *http.Request, in *upstreams.Input) (*upstreams.Reply, error) {
	in.Stage("request", requestLine(req))
	r, body, err := q.send(req, in)
	if err != nil {
		return nil, err
	}
	in.Stage("reply", replyLine(r, body))
	switch {
	case q.decode == nil:
		r.Blob, r.Broken = Sniff(body)
		return r, nil
	case r.Status/100 == 3: // not followed: where it leads is the reply
		return r, nil
	}
	// Room for what decoding and mapping will make of it.
	if err := in.Memory.Take(req.Context(), workingSet*estimate(body).size); err != nil {
		return nil, err
	}
	plain, err := toUTF8(body, q.charset)
	if err == nil {
		r.Body, err = q.decode(plain)
	}
	r.Broken = err
	return r, nil
}

// showsSecret tells whether a request shows a secret, or is signed with one.
func (q *request) showsSecret(scope *jq.Scope) bool {
	shows := q.secretJSON || scope.Shows(q.path) || scope.Shows(q.raw)
	for _, p := range slices.Concat(q.query, q.headers, q.form) {
		shows = shows || scope.Shows(p.value)
	}
	return shows
}

// LargestPicture is how many bytes a picture of the source may have; 0 for a
// source whose answers are none.
func (q *request) LargestPicture() int64 {
	if q.decode == nil {
		return q.limit
	}
	return 0
}
