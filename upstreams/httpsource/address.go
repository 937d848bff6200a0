package httpsource

import (
	"net/url"
	"strings"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
	"sundry/upstreams/lib/redact"
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
		c.Problems.Add(line, "url: expected an http or https URL with a literal host and without a query, for example https://api.example.org/v1/{id}, got %q; parameters go below query:", redact.Address(spec.URL.Value))
		return false
	}
	f.setBase(u)
	if !strings.HasPrefix(spec.URL.Value, f.origin) {
		c.Problems.Add(line, "url: expected a literal host, without placeholders, for example https://api.example.org/v1/{id}, got %q", redact.Address(spec.URL.Value))
	}
	f.path = jq.CompileTemplate(declare.Text{Value: strings.TrimPrefix(spec.URL.Value, f.origin), Line: line}, scope, c.Problems)
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
	f.origin = f.base.String()
}

// parseAddress parses an absolute http or https URL without credentials, query and
// fragment.
func parseAddress(s string) (*url.URL, bool) {
	u, ok := declare.Address(s, "http", "https")
	return u, ok && u.User == nil
}
