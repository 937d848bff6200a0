package proxy

import (
	"net/http"
	"regexp"
	"strings"
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

// TestPagesForBrowsers: the pages come as HTML that may load nothing of elsewhere, in the
// language that the visitor prefers.
func TestPagesForBrowsers(t *testing.T) {
	f := newFront(t, nil, replaying("60s", "ip"), withExchanges)
	for path, titles := range map[string][2]string{
		"/":        {"<title>Sundry</title>", "<title>Sundry</title>"},
		"/docs":    {"<title>Docs · Sundry</title>", "<title>文档 · Sundry</title>"},
		"/docs/":   {"<title>Docs · Sundry</title>", "<title>文档 · Sundry</title>"},
		"/docs/ip": {"<title>IP address lookup · Sundry</title>", "<title>IP 归属地查询 · Sundry</title>"},
	} {
		for accept, want := range map[string]int{"en-GB,en;q=0.9": 0, "zh-CN,zh;q=0.9,en;q=0.8": 1, "": 1, "fr": 0} {
			a := f.get(path, "Accept-Language", accept)
			a.want(t, http.StatusOK, titles[want], []string{`<html lang="en">`, `<html lang="zh-CN">`}[want])
			a.header(t, "Content-Type", "text/html")
			a.header(t, "Content-Language", []string{"en", "zh-CN"}[want])
			a.header(t, "Content-Security-Policy", "default-src 'none'; script-src 'self'")
			a.header(t, "Referrer-Policy", "same-origin")
			a.header(t, "Vary", "Accept-Encoding, Cookie, Accept-Language")
			a.header(t, "Cache-Control", "public, max-age=60")
		}
	}
	f.get("/docs/nope").want(t, http.StatusNotFound)
	f.get("/docs//").want(t, http.StatusNotFound)
}

// A language that is asked for is remembered, in an answer that no shared cache keeps.
func TestPagesRememberTheLanguage(t *testing.T) {
	f := newFront(t, nil, replaying("60s", "ip"))
	a := f.get("/docs?lang=en", "Cookie", "lang=zh")
	a.want(t, http.StatusOK, `<html lang="en">`)
	a.header(t, "Set-Cookie", "lang=en; Path=/; Max-Age=31536000; SameSite=Lax")
	a.header(t, "Cache-Control", "no-store")
	a.header(t, "Vary", "Accept-Encoding")
	again := f.get("/docs", "Cookie", "lang=en", "Accept-Language", "zh-CN")
	again.want(t, http.StatusOK, `<html lang="en">`)
	if again.Header.Get("Set-Cookie") != "" {
		t.Error("a language that nobody asked for is remembered")
	}
	if f.get("/openapi.json?lang=en").Header.Get("Set-Cookie") != "" {
		t.Error("a file has no language to remember")
	}
}

// assetLink matches the links to assets in a page.
var assetLink = regexp.MustCompile(`(?:href|src)="(/assets/[^"]+)"`)

// What pages load is there, may be kept for good, and is what it says it is.
func TestAssetsOfPages(t *testing.T) {
	f := newFront(t, nil, replaying("60s", "ip"))
	links := assetLink.FindAllStringSubmatch(f.get("/").body, -1)
	if len(links) < 3 {
		t.Fatalf("the page loads %q", links)
	}
	for _, m := range links {
		a := f.get(m[1])
		a.want(t, http.StatusOK)
		a.header(t, "Cache-Control", "public, max-age=31536000, immutable")
		if typ := a.Header.Get("Content-Type"); !strings.HasPrefix(typ, "text/css") && !strings.HasPrefix(typ, "text/javascript") && typ != "image/svg+xml" {
			t.Errorf("%s: %s", m[1], typ)
		}
	}
	f.get("/assets/site.0123456789abcdef0123.css").header(t, "Cache-Control", "public, max-age=60")
	f.get("/favicon.ico").header(t, "Content-Type", "image/x-icon")
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
			if coding != "" && len(a.body) > len(whole.body)*3/4 {
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
