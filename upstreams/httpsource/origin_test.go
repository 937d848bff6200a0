package httpsource

import (
	"net/http"
	"net/url"
	"reflect"
	"testing"
)

// TestRequestsAreAsParsed compares requests with those for the whole address.
func TestRequestsAreAsParsed(t *testing.T) {
	parts := []string{"", "/", "/a", "/a/", "//a", "/a//b", "/./..", "/%41", "/a b", "/é", "/a:b@c", "/a?b", "/a#b", "a", "/a;b,c=$&+!*'()", "/\x7f", "/\n", "/~-_.", "/[x]", "/%zz"}
	queries := []string{"", "a=b", "a=b&c", "?", "a?", "#", "a#b", "a b", "é", "%41=+", "\n", "a=%zz", "[]{}|^`"}
	plain := 0
	for _, base := range []string{"https://api.example.org", "http://h:8080", "http://h:", "http://[::1]:80", "http://EXAMPLE.org"} {
		u, err := url.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		o := newOrigin(u)
		for _, path := range parts {
			for _, query := range queries {
				address := base + path
				if query != "" {
					address += "?" + query
				}
				want, wantErr := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
				got, err := o.request(t.Context(), http.MethodGet, path, query, nil)
				if (err == nil) != (wantErr == nil) || err == nil && !sameRequest(got, want) {
					t.Errorf("%s: %+v %v, want %+v %v", address, got, err, want, wantErr)
				}
				if isPlainPath(path) && isPlainQuery(query) {
					plain++
				}
			}
		}
	}
	if plain < 100 {
		t.Errorf("%d were not parsed", plain)
	}
}

func sameRequest(a, b *http.Request) bool {
	return reflect.DeepEqual(a.URL, b.URL) && a.Host == b.Host && a.Method == b.Method && a.Body == b.Body && a.ContentLength == b.ContentLength &&
		a.Proto == b.Proto && a.ProtoMajor == b.ProtoMajor && a.ProtoMinor == b.ProtoMinor && (a.GetBody == nil) == (b.GetBody == nil) && len(a.Header) == len(b.Header) && a.Context() == b.Context()
}
