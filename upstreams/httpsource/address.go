package httpsource

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
)

// notSet stands for the host of a source that is left out, because the variable with
// its address is not set.
const notSet = "not-set.invalid"

// compileURL reports false for a URL without which nothing else can be compiled.
func (f *fetcher) compileURL(spec *Spec, line int, scope *jq.Scope, c *upstreams.Compiler) bool {
	line = max(spec.URL.Line, line)
	if at := jq.Placeholder.FindStringSubmatchIndex(spec.URL.Value); at != nil && at[0] == 0 {
		return f.compileHosted(spec.URL.Value[at[2]:at[3]], spec.URL.Value[at[1]:], line, scope, c)
	}
	u, ok := parseAddress(jq.Placeholder.ReplaceAllString(spec.URL.Value, "x"))
	if !ok {
		c.Problems.Add(line, "url: expected an http or https URL with a literal host and without a query, for example https://api.example.org/v1/{id}, got %q; parameters go below query:", spec.URL.Value)
		return false
	}
	f.setBase(u)
	if !strings.HasPrefix(spec.URL.Value, f.target.text) {
		c.Problems.Add(line, "url: expected a literal host, without placeholders, for example https://api.example.org/v1/{id}, got %q", spec.URL.Value)
	}
	f.path = jq.CompileTemplate(declare.Text{Value: strings.TrimPrefix(spec.URL.Value, f.target.text), Line: line}, scope, c.Problems)
	return true
}

// compileHosted compiles the URL of a service that the operator hosts: a placeholder
// with its address, and a path. Where the address is not set, the source is left out.
func (f *fetcher) compileHosted(name, path string, line int, scope *jq.Scope, c *upstreams.Compiler) bool {
	variable, ok := c.Required[name]
	if !ok || path != "" && path[0] != '/' {
		c.Problems.Add(line, "url: {%s}%s: expected the name of a secret that holds an address, then a path, for example url: \"{base}/hot\" with secrets: {base: SUNDRY_RSSHUB_URL}", name, path)
		return false
	}
	jq.CompileTemplate(declare.Text{Value: "{" + name + "}", Line: line}, scope, c.Problems) // which notes that it is read
	address := jq.AsText(c.Secrets[name])
	u, ok := parseAddress(address)
	switch {
	case address == "":
		u = &url.URL{Scheme: "https", Host: notSet}
	case !ok:
		c.Problems.Add(line, "%s: expected an http or https address without a user, a password and a query, such as https://rsshub.example.org", variable) // without the value, which may hold a password
		return false
	}
	f.setBase(u)
	f.path = jq.CompileTemplate(declare.Text{Value: strings.TrimRight(u.EscapedPath(), "/") + path, Line: line}, scope, c.Problems)
	return true
}

// setBase sets the scheme and host of all requests.
func (f *fetcher) setBase(u *url.URL) {
	f.base = &url.URL{Scheme: u.Scheme, Host: u.Host}
	f.target = newOrigin(f.base)
}

// parseAddress parses an absolute http or https URL without credentials, query and
// fragment.
func parseAddress(s string) (*url.URL, bool) {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, false
	}
	return u, true
}

// origin is the scheme and host that requests go to.
type origin struct {
	text  string        // as in https://api.example.org
	blank *http.Request // a GET of it; nil: it was not compiled
}

func newOrigin(base *url.URL) origin {
	o := origin{text: base.String()}
	if req, err := http.NewRequest(http.MethodGet, o.text, http.NoBody); err == nil { //nolint:noctx // it is never sent
		o.blank = req
	}
	return o
}

// request makes a request for a path and a query, which are escaped. It does not parse
// them if they are plain.
func (o origin) request(ctx context.Context, method, path, query string, body []byte) (*http.Request, error) {
	if o.blank != nil && body == nil && method == http.MethodGet && isPlainPath(path) && isPlainQuery(query) {
		req, u := o.blank.WithContext(ctx), *o.blank.URL
		u.Path, u.RawQuery = path, query
		req.URL, req.Header = &u, make(http.Header, 8)
		return req, nil
	}
	address := o.text + path
	if query != "" {
		address += "?" + query
	}
	return http.NewRequestWithContext(ctx, method, address, bodyReader(body))
}

// isPlainPath reports whether a path is the same escaped and not.
func isPlainPath(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.ContainsFunc(path, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '/' && r != '-' && r != '_' && r != '.' && r != '~'
	})
}

// isPlainQuery reports whether all of it belongs to the query of an address.
func isPlainQuery(query string) bool {
	return !strings.ContainsFunc(query, func(r rune) bool { return r <= ' ' || r > '~' || r == '#' })
}

// bodyReader returns a type that net/http can rewind to send a request again.
func bodyReader(body []byte) io.Reader {
	if body == nil {
		return http.NoBody
	}
	return bytes.NewReader(body)
}
