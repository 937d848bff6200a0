package proxy

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sundry/upstreams"
)

// TestNothingPublicRepeatsTheHost: whoever asks, and by whatever name, gets the same document:
// a cache in front may give it to everybody. It names the server as the settings say, else
// relative to itself.
func TestNothingPublicRepeatsTheHost(t *testing.T) {
	f := withTools(newFront(t, nil, replayed, withExchanges, trusting("127.0.0.1/32")))
	ask := func(method, path, host string) *httptest.ResponseRecorder {
		req := httptest.NewRequest(method, path, strings.NewReader(listMessage))
		req.RemoteAddr, req.Host = "127.0.0.1:1234", host
		for _, name := range []string{"X-Forwarded-Host", "X-Original-Host", "X-Host", "X-Forwarded-Server", "X-Forwarded-Prefix"} {
			req.Header.Set(name, host)
		}
		req.Header.Set("Forwarded", "for=192.0.2.1;proto=https;host="+host)
		req.Header.Set("X-Forwarded-Proto", "https")
		req.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		f.server.ServeHTTP(rec, req)
		return rec
	}
	const host = "poisoned.example.net"
	for _, public := range []string{"", "https://tools.example.org"} {
		if err := f.server.Reload(f.server.Catalog(), Settings{PublicURL: public, MCP: &MCP{}, Trusted: f.server.current.Load().settings.Trusted}); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{
			"/", "/docs", "/docs/ip", "/docs/", "/openapi.json", "/llms.txt", "/status", "/status.json", "/status/now.json", "/robots.txt", "/sitemap.xml", "/.well-known/security.txt",
			"/favicon.ico", "/mcp", "/nothing", "/api", "/api/nothing", "/api/yiyan", "/api/qrcode?text=a", "/healthz",
		} {
			method := http.MethodGet
			if path == "/mcp" {
				method = http.MethodPost
			}
			rec := ask(method, path, host)
			if all := fmt.Sprint(rec.Header(), rec.Body); strings.Contains(all, host) {
				t.Errorf("%s, public URL %q: it repeats the host: %.300s", path, public, all)
			}
		}
		want := cmp.Or(public, "/")
		if body := ask(http.MethodGet, "/openapi.json", host).Body.String(); !strings.Contains(body, `"servers":[{"description":"本服务。","url":"`+want+`"}]`) {
			t.Errorf("public URL %q: the server is not %s", public, want)
		}
	}
}

// TestOpenAPILanguage: the caller's, by the query or the header, else Chinese.
func TestOpenAPILanguage(t *testing.T) {
	f := newFront(t, nil, replayed, func(c *Config, _ *upstreams.Environment) { c.Version = "1.2.3" })
	for _, row := range []struct{ query, accept, tag, vary string }{
		{"", "", "zh-CN", "Accept-Encoding, Accept-Language"},
		{"", "en", "en", "Accept-Encoding, Accept-Language"},
		{"", "zh-CN,zh;q=0.9", "zh-CN", "Accept-Encoding, Accept-Language"},
		{"?lang=zh", "", "zh-CN", "Accept-Encoding"},
		{"?lang=en", "zh-CN", "en", "Accept-Encoding"},
	} {
		a := f.get("/openapi.json"+row.query, "Accept-Language", row.accept)
		a.want(t, http.StatusOK, `"version":"1.2.3"`)
		if tag, vary := a.Header.Get("Content-Language"), a.Header.Get("Vary"); tag != row.tag || vary != row.vary || a.Header.Get("Set-Cookie") != "" {
			t.Errorf("%+v: language %q, Vary %q, cookie %q", row, tag, vary, a.Header.Get("Set-Cookie"))
		}
		if chinese := strings.Contains(a.body, "本服务。"); chinese != (row.tag == "zh-CN") {
			t.Errorf("%+v: it is not in that language", row)
		}
	}
}
