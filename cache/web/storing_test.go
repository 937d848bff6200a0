package web

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStorable(t *testing.T) {
	noCookies := usualRules
	noCookies.NoCookies = true
	for _, row := range []struct {
		status            int
		response, request string
		want              bool
	}{
		{200, "Cache-Control: max-age=60", "", true},
		{200, "", "", false},
		{200, "Etag: \"a\"", "", true},
		{200, "Last-Modified: {-1000}|Date: {0}", "", true},
		{302, "Etag: \"a\"", "", false},
		{302, "Cache-Control: max-age=60", "", true},
		{302, "Cache-Control: public|Etag: \"a\"", "", true},
		{599, "Cache-Control: max-age=60", "", true},
		{499, "Expires: {60}", "", true},
		{304, "Cache-Control: max-age=60", "", false},
		{103, "Cache-Control: max-age=60", "", false},
		{200, "Cache-Control: no-store, max-age=60", "", false},
		{200, "Cache-Control: no-store, must-understand, max-age=60", "", true},
		{299, "Cache-Control: no-store, must-understand, max-age=60", "", false},
		{299, "Cache-Control: must-understand, max-age=60", "", false},
		{200, "Cache-Control: private, max-age=60", "", false},
		{200, "Cache-Control: private=\"a\", max-age=60", "", true},
		{200, "Cache-Control: max-age=60", "Cache-Control: no-store", false},
		{200, "Cache-Control: max-age=60", "Authorization: x", false},
		{200, "Cache-Control: max-age=60, public", "Authorization: x", true},
		{200, "Cache-Control: max-age=60, must-revalidate", "Authorization: x", true},
		{200, "Cache-Control: s-maxage=60", "Authorization: x", true},
		{200, "Cache-Control: max-age=60|Set-Cookie: a=b", "", true},
		{200, "Etag: \"a\"|Set-Cookie: a=b", "", false},
		{200, "Cache-Control: public, max-age=0|Etag: \"a\"|Set-Cookie: a=b", "", false},
		{200, "Cache-Control: max-age=60, no-cache|Etag: \"a\"|Set-Cookie: a=b", "", false},
		{200, "Cache-Control: max-age=60|Age: 60|Etag: \"a\"|Set-Cookie: a=b", "", false},
		{200, "Cache-Control: max-age=60|Vary: *", "", false},
		{200, "Cache-Control: max-age=60|Vary: a|Vary: b, *", "", false},
		{200, "Cache-Control: max-age=60|Vary: , *", "", false},
		{200, "Cache-Control: max-age=60|Vary: X A", "", false},
		{200, "Cache-Control: max-age=60|Vary: X-A, \"b\"", "", false},
		{200, "Cache-Control: max-age=60|Vary: X-A", "X_A: 1|X-A: 2", false},
		{200, "Cache-Control: max-age=60|Vary: X-A", "X_B: 1|X-A: 2", true},
		{200, "Cache-Control: max-age=60|Vary: X-Forwarded-For", "", false},
		{200, "Cache-Control: max-age=60|Vary: X-Forwarded-For", "X-Forwarded-For: 192.0.2.1", true},
		{206, "Cache-Control: max-age=60", "", false},
		{416, "Cache-Control: max-age=60", "", false},
		{206, "Cache-Control: max-age=60|Content-Range: bytes 0-1/2", "", true},
		{200, "Cache-Control: max-age=0", "", false},
		{200, "Cache-Control: max-age=0|Etag: \"a\"", "", true},
		{200, "Cache-Control: max-age=0, stale-while-revalidate=60", "", true},
		{200, "Cache-Control: max-age=60|Age: 60", "", false},
		{200, "Cache-Control: max-age=60|CDN-Cache-Control: no-store", "", false},
		{200, "Cache-Control: no-store|CDN-Cache-Control: max-age=60", "", true},
	} {
		r := received(row.status, split(row.response)...)
		terms := TermsOf(r, &usualRules)
		q := NewRequest(&http.Request{Method: http.MethodGet, Header: fields(split(row.request)...)}, &usualRules)
		if got := Storable(q, r, &terms, &usualRules); got != row.want {
			t.Errorf("%d %s for %q: %v", row.status, row.response, row.request, got)
		}
	}
	cookie := received(200, "Cache-Control: max-age=60", "Set-Cookie: a=b")
	terms := TermsOf(cookie, &noCookies)
	if Storable(&Request{}, cookie, &terms, &noCookies) {
		t.Error("a cookie is stored, though none is to be")
	}
}

func TestConnectionFieldsGo(t *testing.T) {
	h := fields("Connection: close, x-One", "Keep-Alive: 1", "Te: trailers", "Transfer-Encoding: chunked", "Upgrade: h2c", "X-One: 1", "X-Two: 2",
		"Proxy-Connection: x", "Proxy-Authenticate: x", "Proxy-Authorization: x", "Proxy-Authentication-Info: x", "Trailer: x", "Set-Cookie: a", "Content-Range: x")
	RemoveConnectionFields(h)
	if diff := cmp.Diff(fields("X-Two: 2", "Set-Cookie: a", "Content-Range: x"), h); diff != "" {
		t.Error(diff)
	}
}

func TestUnsharedFieldsGo(t *testing.T) {
	d := ParseDirectives([]string{`private="a-b", no-cache="c, d"`})
	h := fields("A-B: 1", "C: 1", "D: 1", "E: 1")
	d.RemoveUnshared(h)
	if diff := cmp.Diff(fields("E: 1"), h); diff != "" {
		t.Error(diff)
	}
}

func TestInvalidates(t *testing.T) {
	for method, want := range map[string]bool{"GET": false, "HEAD": false, "OPTIONS": false, "TRACE": false, "PROPFIND": false, "REPORT": false, "SEARCH": false, "QUERY": false, "PRI": false,
		"POST": true, "PUT": true, "DELETE": true, "M-SEARCH": true, "get": true, "PROPPATCH": true, "propfind": true} {
		if Invalidates(method, 204) != want || Invalidates(method, 404) || Invalidates(method, 500) {
			t.Errorf("%s", method)
		}
	}
}
