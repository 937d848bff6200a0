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

// getter is a compiled HTTP source.
type getter struct {
	host    *host.Host
	base    *url.URL // scheme and host; the path is a template
	path    jq.Template
	query   []pair
	raw     jq.Template // instead of query; without literals for none
	encoded bool        // raw is a placeholder whose value is a query as it is
	headers []pair
	form    []pair                    // makes it a POST
	json    *jq.Program               // likewise
	signs   bool                      // json makes use of secrets
	decode  func([]byte) (any, error) // nil: a picture
	charset encoding.Encoding
	limit   int64
	parts   []any
	listing *jq.Program // gives the parts
	// signsParts: listing makes use of secrets.
	signsParts bool
	trace      bool
	client     *http.Client
}

type pair struct {
	name  string
	value jq.Template
}

// Compile compiles the section of a source of the kind http.
func Compile(c *upstreams.Compiler, section *yaml.Node) upstreams.Compiled {
	var spec HTTPSpec
	c.Decode(section, &spec)
	g := compileHTTP(&spec, c.Line, c)
	return upstreams.Compiled{Fetcher: g, Host: g.host, Remote: true}
}

func compileHTTP(spec *HTTPSpec, line int, c *upstreams.Compiler) *getter {
	scope, problems := c.Scope, c.Problems
	g := &getter{limit: defaultMax, trace: spec.Trace, listing: jq.CompileOptional(spec.Parts.Program, problems)}
	for _, part := range spec.Parts.List {
		g.parts = append(g.parts, part)
	}
	if spec.Parts.given() {
		scope = scope.With("part")
	}
	if spec.Max > 0 {
		g.limit = int64(spec.Max) << 10
	}
	u, err := url.Parse(jq.Placeholder.ReplaceAllString(spec.URL.Value, "x"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" {
		problems.Add(max(spec.URL.Line, line), "url: %q: want an http or https address with a literal host and no query, as in https://api.example.org/v1/{id}; the query goes under query:", spec.URL.Value)
		return g
	}
	g.base = &url.URL{Scheme: u.Scheme, Host: u.Host}
	if !strings.HasPrefix(spec.URL.Value, g.base.String()) {
		problems.Add(spec.URL.Line, "url: the host must be literal, without placeholders")
	}
	path := strings.TrimPrefix(spec.URL.Value, g.base.String())
	g.path = jq.CompileTemplate(declare.Text{Value: path, Line: spec.URL.Line}, scope, problems)
	g.query = compilePairs(spec.Query, scope, problems)
	for _, p := range g.query {
		p.value.EscapeLiterals(url.QueryEscape)
	}
	if spec.RawQuery.Value != "" {
		if len(spec.Query) > 0 {
			problems.Add(spec.RawQuery.Line, "raw_query: beside query; want one of them")
		}
		g.raw = jq.CompileTemplate(spec.RawQuery, scope, problems)
		g.encoded = g.raw.Bare()
	}
	g.headers = compilePairs(spec.Headers, scope, problems)
	g.form, g.json = compilePairs(spec.Form, scope, problems), jq.CompileOptional(spec.JSON, problems)
	for _, p := range g.form {
		p.value.EscapeLiterals(url.QueryEscape)
	}
	if g.form != nil && g.json != nil {
		problems.Add(spec.URL.Line, "form beside json; want one of them")
	}
	g.setDecoder(spec, problems)
	g.client = client(c.Env, newHostSet(append([]declare.Text{{Value: u.Host, Line: spec.URL.Line}}, spec.Hosts...), problems))
	switch spec.Redirects {
	case "", "follow":
	case "none":
		g.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	default:
		problems.Add(spec.URL.Line, "redirects: %q: want follow or none", spec.Redirects)
	}
	g.host = c.Env.Hosts.Get(u.Host)
	g.signs, g.signsParts = scope.Reads(spec.JSON), scope.Reads(spec.Parts.Program)
	return g
}

func (g *getter) setDecoder(spec *HTTPSpec, problems *declare.Problems) {
	switch spec.Decode {
	case "", "json":
		g.decode = DecodeJSON
	case "jsonp":
		g.decode = decodeWrapped
	case "text":
		g.decode = func(b []byte) (any, error) { return string(b), nil }
	case "script":
		g.decode = scriptDecoder(spec.Marker)
	case "image":
	default:
		problems.Add(spec.URL.Line, "decode: %q: want json, jsonp, script, text or image", spec.Decode)
	}
	if (spec.Decode == "script") != (spec.Marker != "") {
		problems.Add(spec.URL.Line, "marker: belongs to decode: script, as in marker: window.__INITIAL_STATE__")
	}
	var ok bool
	if g.charset, ok = charset(spec.Charset); !ok {
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

// one makes the request and decodes the reply.
func (g *getter) one(ctx context.Context, in *upstreams.Input) (*upstreams.Reply, error) {
	req, _, err := g.request(ctx, in)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Internal, "%w", err)
	}
	return g.exchange(req, in)
}

// exchange sends a request and decodes the reply.
func (g *getter) exchange(req *http.Request, in *upstreams.Input) (*upstreams.Reply, error) {
	in.Stage("request", requestLine(req))
	r, body, err := g.send(req, in)
	if err != nil {
		return nil, err
	}
	in.Stage("reply", replyLine(r, body))
	switch {
	case g.decode == nil:
		r.Blob, r.Broken = Sniff(body)
		return r, nil
	case r.Status/100 == 3: // not followed: where it leads is the reply
		return r, nil
	}
	// Room for what decoding and mapping will make of it.
	if err := in.Room.Take(req.Context(), workingSet*weigh(body).size); err != nil {
		return nil, err
	}
	plain, err := toUTF8(body, g.charset)
	if err == nil {
		r.Body, err = g.decode(plain)
	}
	r.Broken = err
	return r, nil
}

// bears tells whether a request shows a secret, or is signed with one.
func (g *getter) bears(scope *jq.Scope) bool {
	shows := g.signs || scope.Shows(g.path) || scope.Shows(g.raw)
	for _, p := range slices.Concat(g.query, g.headers, g.form) {
		shows = shows || scope.Shows(p.value)
	}
	return shows
}

// LargestPicture is how many bytes a picture of the source may have; 0 for a
// source whose answers are none.
func (g *getter) LargestPicture() int64 {
	if g.decode == nil {
		return g.limit
	}
	return 0
}
