package proxy

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sundry/upstreams"
)

// TestOpenAPINamesTheServer: as the settings say, else as the request was sent, else
// relative to the document.
func TestOpenAPINamesTheServer(t *testing.T) {
	f := newFront(t, nil, replayed, trusting("127.0.0.1/32"))
	server := func(headers ...string) string {
		t.Helper()
		req := httptest.NewRequest(http.MethodGet, "/openapi.json", nil)
		req.RemoteAddr, req.Host = "127.0.0.1:1234", strings.TrimPrefix(f.URL, "http://")
		for i := 0; i < len(headers); i += 2 {
			if headers[i] == "Host" {
				req.Host = headers[i+1]
			}
			req.Header.Set(headers[i], headers[i+1])
		}
		rec := httptest.NewRecorder()
		f.server.ServeHTTP(rec, req)
		_, after, _ := strings.Cut(rec.Body.String(), `"servers":[{"description":"This service.","url":"`)
		url, _, _ := strings.Cut(after, `"`)
		return url
	}
	for _, row := range []struct {
		headers []string
		want    string
	}{
		{nil, f.URL},
		{[]string{"Host", "API.example.org:8443", "X-Forwarded-Proto", "https"}, "https://api.example.org:8443"},
		{[]string{"Host", "api.example.org", "X-Forwarded-Proto", "javascript"}, "http://api.example.org"},
		{[]string{"Host", "[2001:db8::1]:8080"}, "http://[2001:db8::1]:8080"},
		{[]string{"Host", `a"b`}, "/"},
		{[]string{"Host", "a/b"}, "/"},
		{[]string{"Host", "user@a"}, "/"},
		{[]string{"Host", strings.Repeat("a", 300)}, "/"},
	} {
		if got := server(row.headers...); got != row.want {
			t.Errorf("%v: %q, want %q", row.headers, got, row.want)
		}
	}
	for _, settings := range []Settings{{}, {PublicURL: "https://tools.example.org"}} {
		if err := f.server.Reload(f.server.Catalog(), settings); err != nil {
			t.Fatal(err)
		}
		want := "http://api.example.org" // the proxy is not trusted any more
		if settings.PublicURL != "" {
			want = settings.PublicURL
		}
		if got := server("Host", "api.example.org", "X-Forwarded-Proto", "https"); got != want {
			t.Errorf("%+v: %q, want %q", settings, got, want)
		}
	}
}

// TestOpenAPILanguage: the caller's, by the query or the header, else English.
func TestOpenAPILanguage(t *testing.T) {
	f := newFront(t, nil, replayed, func(c *Config, _ *upstreams.Environment) { c.Version = "1.2.3" })
	for _, row := range []struct{ query, accept, tag, vary string }{
		{"", "", "en", "Accept-Encoding, Accept-Language"},
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
