// Package httpsource is the kind of source that makes HTTP requests, with the
// steps before its own request, and the parts and pictures that belong to it.
// What the package promises:
//
//   - A value cannot leave its place: in a path, a query, a header or a form it is
//     escaped for it.
//   - A reply cannot exhaust the process: size, nesting, memory and time are
//     bounded, and pictures are verified by their bytes.
//   - Redirects and pictures stay on declared hosts. A caller-supplied target is
//     reached only through the SSRF guard.
//   - No error contains a URL, which may hold a secret or a caller's input.
package httpsource

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
	"golang.org/x/text/encoding"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/host"
	"sundry/upstreams/jq"
	"sundry/upstreams/lib/guard"
	"sundry/upstreams/lib/redact"
)

// Bounds of an HTTP source.
const (
	defaultMaxBytes = 2 << 20
	maxRedirects    = 3
	pictureTimeout  = 5 * time.Second
)

// fetcher is a compiled HTTP request: that of a source, of a step, or for a
// picture.
type fetcher struct {
	host            *host.Host
	base            *url.URL // scheme and host; the path is a template
	origin          string   // base as a text
	agent           agent
	path            jq.Template
	query           []field
	rawQuery        jq.Template // in place of query; zero: none
	rawQueryEncoded bool        // the value of rawQuery's placeholder is encoded already
	headers         []field
	form            []field           // not nil: a POST of a form
	json            *jq.Program       // not nil: a POST of JSON
	decoder         *decoder          // nil: it is a picture
	charset         encoding.Encoding // that is declared; nil: none
	maxBytes        int64
	parts           []any
	partsProgram    *jq.Program // computes the parts
	trace           bool
	client          *http.Client
}

// field is a name with the template of its value, in a query, a form or headers.
type field struct {
	name    string
	escaped string // name as in a query or a form
	value   jq.Template
}

// Compile compiles the section of a source of the kind http. Mistakes go to the
// compiler's problems.
func Compile(c *upstreams.Compiler, section *yaml.Node) upstreams.Compiled {
	var spec Spec
	c.Decode(section, &spec)
	f := compileFetcher(&spec, c.Line, c)
	out := upstreams.Compiled{Fetch: f.fetch, Host: f.host, Remote: true, DecodeKnown: f.decodeKnown}
	if f.decoder == nil {
		out.LargestPicture = f.maxBytes
	}
	return out
}

// compileFetcher compiles a request that is declared at a line.
func compileFetcher(spec *Spec, line int, c *upstreams.Compiler) *fetcher {
	scope, problems := c.Scope, c.Problems
	f := &fetcher{maxBytes: cmp.Or(int64(spec.Max)<<10, defaultMaxBytes), trace: spec.Trace, partsProgram: c.Program(spec.Parts.Program)}
	for _, part := range spec.Parts.List {
		f.parts = append(f.parts, part)
	}
	if spec.Parts.declared() {
		scope = scope.With("part")
	}
	if !f.compileURL(spec, line, scope, c) {
		return f
	}
	spec.hideLiterals(c.Env.Hidden)
	f.agent = agent{c.Env, spec.Agent}
	spec.checkAgent(problems)
	f.compileQuery(spec, scope, problems)
	f.headers = compileFields(spec.Headers, scope, problems)
	for i := range f.headers {
		f.headers[i].name = http.CanonicalHeaderKey(f.headers[i].name)
	}
	f.compileBody(spec, scope, c)
	f.compileDecoder(spec, problems)
	f.compileClient(spec, c)
	if f.base.Host != notSet {
		f.host = c.Env.Hosts.Get(f.base.Host)
	}
	return f
}

// hideLiterals has the credentials hidden that the file itself has.
func (s *Spec) hideLiterals(hidden *redact.Set) {
	for _, fields := range []map[string]declare.Text{s.Query, s.Headers, s.Form} {
		for name, v := range fields {
			if redact.IsCredential(name) && !strings.Contains(v.Value, "{") {
				hidden.Add(v.Value)
			}
		}
	}
}

func (f *fetcher) compileQuery(spec *Spec, scope *jq.Scope, problems *declare.Problems) {
	f.query = compileFields(spec.Query, scope, problems)
	escapeLiterals(f.query)
	if spec.RawQuery.Value == "" {
		return
	}
	if len(spec.Query) > 0 {
		problems.Add(spec.RawQuery.Line, "raw_query and query: expected only one of them")
	}
	f.rawQuery = jq.CompileTemplate(spec.RawQuery, scope, problems)
	f.rawQueryEncoded = f.rawQuery.OnlyPlaceholders()
}

func (f *fetcher) compileBody(spec *Spec, scope *jq.Scope, c *upstreams.Compiler) {
	f.form, f.json = compileFields(spec.Form, scope, c.Problems), c.Program(spec.JSON)
	escapeLiterals(f.form)
	if f.form != nil && f.json != nil {
		c.Problems.Add(spec.URL.Line, "form and json: expected only one of them")
	}
}

func (f *fetcher) compileClient(spec *Spec, c *upstreams.Compiler) {
	hosts := append([]declare.Text{{Value: f.base.Host, Line: spec.URL.Line}}, spec.Hosts...)
	f.client = newClient(c, newHostSet(hosts, c.Problems))
	if spec.Redirects == "none" {
		f.client.CheckRedirect = guard.NoRedirects
	}
}

// compileFields sorts by name, so that equal calls send equal requests.
func compileFields(templates map[string]declare.Text, scope *jq.Scope, problems *declare.Problems) []field {
	var out []field
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		out = append(out, field{name, url.QueryEscape(name), jq.CompileTemplate(templates[name], scope, problems)})
	}
	return out
}

// escapeLiterals escapes what stands between the placeholders of a query or form.
func escapeLiterals(fields []field) {
	for _, f := range fields {
		f.value.EscapeLiterals(url.QueryEscape)
	}
}

// fetchOne makes the request and decodes the reply.
func (f *fetcher) fetchOne(ctx context.Context, a *upstreams.Attempt) (*upstreams.Reply, error) {
	req, _, err := f.render(ctx, a)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Internal, "%w", err)
	}
	return f.roundTrip(req, a)
}

// roundTrip sends a request and decodes the reply. A body that cannot be decoded
// is for the judge: its rules may know the status.
func (f *fetcher) roundTrip(req *http.Request, a *upstreams.Attempt) (*upstreams.Reply, error) {
	a.StageOf("request", func() string { return shownRequest(req, f.query, a) })
	r, body, from, err := f.send(req, a)
	if err != nil {
		return nil, err
	}
	a.StageOf("reply", func() string { return shownReply(r, body, a) })
	switch {
	case f.decoder == nil: // a picture
		if r.Blob, r.Broken = Sniff(body); r.Blob != nil {
			r.Body = FactsOf(r.Blob)
		}
		return r, nil
	case r.Status/100 == 3: // not followed: its Location is the reply
		return r, nil
	}
	if err := a.Memory.Take(req.Context(), f.decoder.memory(body)); err != nil {
		return nil, err
	}
	if r.Body, r.Broken = f.decode(req.Context(), body, from); r.Broken != nil {
		r.Title, r.Page = upstreams.TitleOf(body)
	}
	return r, nil
}

// decodeKnown decodes the bodies of one call: with parts, several are an array.
func (f *fetcher) decodeKnown(bodies [][]byte) (any, error) {
	if f.parts == nil && f.partsProgram == nil {
		return f.decode(context.Background(), bodies[0], f.base)
	}
	parts := make([]any, len(bodies))
	for i, body := range bodies {
		parts[i], _ = f.decode(context.Background(), body, f.base) // null, as of a part that failed
	}
	return parts, nil
}
