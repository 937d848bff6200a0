package proxy

import (
	"net/http"
	"testing"
)

// TestEveryAnswerHasAnID: pages, errors and preflights, too.
func TestEveryAnswerHasAnID(t *testing.T) {
	f := newFront(t, nil, replayed)
	for _, r := range []struct{ method, path string }{
		{"GET", "/"}, {"GET", "/docs"}, {"GET", "/openapi.json"}, {"GET", "/healthz"}, {"GET", "/readyz"}, {"HEAD", "/"}, {"HEAD", "/readyz"},
		{"GET", "/nope"}, {"GET", "/api/nope"}, {"GET", "/api/wpcat?n=99"}, {"GET", "/api/60s"}, {"HEAD", "/api/60s"}, {"OPTIONS", "/api/60s"},
		{"POST", "/"}, {"POST", "/api/60s"}, {"GET", "/api/sfz?card=110101199001010015"}, {"GET", "/api/ip?callback=cb&ip=x"},
	} {
		a := f.do(t.Context(), r.method, r.path, "X-Request-Id", "abc-123")
		a.header(t, "X-Request-Id", "abc-123")
		a.header(t, "X-Content-Type-Options", "nosniff")
		a.header(t, "Access-Control-Allow-Origin", "*")
		if a.Header.Get("Cache-Control") == "" {
			t.Errorf("%s %s: no Cache-Control", r.method, r.path)
		}
	}
}

// TestPagesForBrowsers: the pages come as HTML that may load nothing.
func TestPagesForBrowsers(t *testing.T) {
	f := newFront(t, nil, replayed, withExchanges)
	for path, title := range map[string]string{"/": "<title>Sundry</title>", "/docs": "<title>Sundry: API</title>"} {
		a := f.get(path)
		a.want(t, http.StatusOK, title)
		a.header(t, "Content-Type", "text/html")
		a.header(t, "Content-Security-Policy", "default-src 'none'")
	}
}

func TestPagesAreCompressedAndTagged(t *testing.T) {
	f := newFront(t, nil, replayed)
	for _, path := range []string{"/", "/docs", "/openapi.json"} {
		whole := f.get(path)
		whole.header(t, "Vary", "Accept-Encoding")
		tag := whole.Header.Get("Etag")
		for accept, coding := range map[string]string{"gzip": "gzip", "zstd, gzip": "zstd", "identity": "", "gzip;Q=0": ""} {
			a := f.get(path, "Accept-Encoding", accept)
			a.header(t, "Vary", "Accept-Encoding")
			if got := a.Header.Get("Content-Encoding"); got != coding || a.Header.Get("Etag") != tag {
				t.Errorf("%s, Accept-Encoding %s: %q with the tag %s, want %q with %s", path, accept, got, a.Header.Get("Etag"), coding, tag)
			}
			if coding != "" && len(a.body) > len(whole.body)/2 {
				t.Errorf("%s: %d bytes of %d in %s", path, len(a.body), len(whole.body), coding)
			}
			if unpack(t, coding, a.body) != whole.body {
				t.Errorf("%s: the body in %s differs", path, coding)
			}
			head := f.do(t.Context(), http.MethodHead, path, "Accept-Encoding", accept)
			if head.body != "" || head.ContentLength != a.ContentLength || head.Header.Get("Etag") != tag {
				t.Errorf("%s: HEAD: %d %v", path, head.ContentLength, head.Header)
			}
		}
		again := f.get(path, "If-None-Match", tag)
		if again.StatusCode != http.StatusNotModified || again.body != "" || again.Header.Get("Etag") != tag || again.Header.Get("Content-Type") != "" {
			t.Errorf("%s: again: %d %v %q", path, again.StatusCode, again.Header, again.body)
		}
		again.header(t, "Vary", "Accept-Encoding")
		again.header(t, "Cache-Control", "max-age=60")
		f.get(path, "If-None-Match", `"other"`).want(t, http.StatusOK)
	}
}
