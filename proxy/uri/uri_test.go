package uri

import (
	"net/http"
	"net/url"
	"testing"
)

func TestValidHost(t *testing.T) {
	for _, host := range []string{"a", "a.example", "A.Example.", "a_b", "a-b:80", "a:", "a:0080", "a:65535", "1.2.3.4:80", "[::1]", "[::1]:", "[::1]:80", "[::ffff:1.2.3.4]", "%C3%A9.example", "%61~"} {
		if !ValidHost(host) {
			t.Errorf("%q is refused", host)
		}
	}
	for _, host := range []string{"", ":", ":80", "a:b:c", "a:abc", "a:65536", "a:+1", "a:-1", "a:1:", "a: 1", "a:１", "a:99999999999999999999", "::1", "[", "]", "[]", "[::1", "::1]", "[::1]x", "[::1]80", "[::1]:x",
		"[::1%25lo]", "[::1%lo]", "[1.2.3.4]", "[a]", "[v1.a]", "[[::1]]", "a[::1]", "a,b", "a b", " a", "a\t", "a@b", "a:b@c", "a/b", "a?b", "a#b", `a\b`, `"a"`, "a;b", "a=b", "*", "é", "\xff", "a\x00", "a\x7f",
		"%", "%4", "%zz", "a%2", "%00", "%2f", "%40", "%3a", "%20", "%2c", "a%0d%0ab"} {
		if ValidHost(host) {
			t.Errorf("%q is accepted", host)
		}
	}
}

func TestNormalize(t *testing.T) {
	for path, want := range map[string]string{
		"": "", "/": "/", "/a": "/a", "/.": "/", "/./": "/", "/./.": "/", "/./a": "/a", "/a/.": "/a/", "/a/./": "/a/", "/a/././b": "/a/b", "//.": "//", "/.//a": "//a", "//./a": "//a",
		"/%2e/a": "/a", "/a/%2E": "/a/", "/.a": "/.a", "/a.": "/a.", "/...": "/...", "/../a": "/../a", "/.;x/a": "/.;x/a", "/.%2fa": "/.%2Fa", ".": ".", "*": "*", "/./%41": "/A",
		"/x/%79": "/x/y", "/%7Ea": "/~a", "/%2f": "/%2F", "/a%2fb": "/a%2Fb", "/%2A%2b": "/%2A%2B", "/*": "/*", "/%c3%bc": "/%C3%BC", "/ü%2f": "/%C3%BC%2F", "/%25%37%39": "/%2579", "/a b": "/a%20b",
		"%": "%", "%zz": "%zz", // net/url refuses them in requests
	} {
		if got := Normalize(path); got != want {
			t.Errorf("%q: %q, expected %q", path, got, want)
		}
		if path == "" || path[0] != '/' {
			continue
		}
		u, err := url.ParseRequestURI(path)
		if err != nil {
			t.Fatal(err)
		}
		before := *u
		if got := Normal(u); got.EscapedPath() != want || (got == u) != (path == want) || *u != before {
			t.Errorf("%q: %+v, expected %q", path, got, want)
		}
	}
}

func TestMayLeadUp(t *testing.T) {
	for _, path := range []string{"/", "/a/b", "/.a", "/..a", "/a..", "/...", "/a.%2fb", "/%2e", "/@a%2fb", "/%25", "/a%", "/%zz", "/%252", "/%e2%80%a5", "/a;..", "/.well-known/a"} {
		if MayLeadUp(Normalize(path)) {
			t.Errorf("%q is refused", path)
		}
	}
	for _, path := range []string{"/..", "/../", "/a/../b", "/a/..", "/%2e%2e/", "/%2E.", "/.%2e/a", "/./../a", "/.././a", "/..;a=b/c", "/..%3ba/", "/a%2f../b", "/..%2fa", "/..%5ca", `/..\a`, `/a\..`, "/a%5c..",
		"/%252e%252e/a", "/%25252e.", "/..%252fa", "/%c0%ae%c0%ae/a", "/..%c0%afa", "/%e0%80%ae./", "/..%00/a", "/..%00.txt", "/..%20/a", "/..%09", "/.;a/b", "/.%2fa", "/a%2f.", "/%2e%5ca"} {
		if !MayLeadUp(Normalize(path)) {
			t.Errorf("%q is accepted", path)
		}
	}
}

func TestCheckHost(t *testing.T) {
	for _, row := range []struct {
		host string
		url  url.URL
		ok   bool
	}{
		{"a.example", url.URL{Path: "/"}, true},
		{"", url.URL{Path: "/"}, true},
		{"a,b", url.URL{Path: "/"}, false},
		{"a.example", url.URL{Scheme: "http", Host: "a.example"}, true},
		{"a.example", url.URL{Scheme: "http", Path: "/"}, false},
		{"a.example", url.URL{Scheme: "http", Opaque: "a"}, false},
		{"a.example", url.URL{Scheme: "http", Host: "a.example", User: url.User("u")}, false},
	} {
		if err := CheckHost(&http.Request{Host: row.host, URL: &row.url}); (err == nil) != row.ok {
			t.Errorf("%+v: %v", row, err)
		}
	}
}
