package proxy

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/proxy/browsertest"
	"sundry/upstreams"
)

// browserAccepts is what browsers accept when a page is opened.
const browserAccepts = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"

// TestMissingPages: browsers get a page in the visitor's language that leads on.
func TestMissingPages(t *testing.T) {
	f := newFront(t, nil, replayed)
	for path, near := range map[string]string{
		"/docs/qrcod": "/docs/qrcode", "/docs/IP": "/docs/ip", "/ip": "/docs/ip", "/stats": "/status", "/doc": "/docs", "/api": "/docs",
		"/docs/xx": "", "/wp-login.php": "", "/docs/ip/more": "", "/docs/" + strings.Repeat("q", 4000): "",
	} {
		for lang, want := range map[string][3]string{"en": {`<html lang="en">`, "There is no such page", "Did you mean"}, "zh": {`<html lang="zh-CN">`, "页面不存在", "是不是要找"}} {
			a := f.get(path, "Accept", browserAccepts, "Accept-Language", lang)
			a.want(t, http.StatusNotFound, want[0], want[1], `href="/docs"`)
			body := a.body
			if guessed := strings.Contains(body, want[2]); guessed != (near != "") || guessed && !strings.Contains(body, want[2]+` <a href="`+near+`">`) {
				t.Errorf("%s: %q is not the nearest: %s", path, near, body)
			}
			a.header(t, "Content-Type", "text/html")
			a.header(t, "Content-Security-Policy", "default-src 'none'")
			a.header(t, "Sundry-Error", "not_found")
			a.header(t, "Cache-Control", "no-store")
			a.header(t, "Vary", "Accept, Cookie, Accept-Language")
		}
	}
	f.get("/nope?lang=en", "Accept", browserAccepts).header(t, "Set-Cookie", "lang=en; Path=/; Max-Age=31536000; SameSite=Lax")
	if a := f.do(t.Context(), http.MethodHead, "/nope", "Accept", browserAccepts); a.StatusCode != http.StatusNotFound || len(a.body) > 0 {
		t.Errorf("HEAD: %d with %d bytes", a.StatusCode, len(a.body))
	}
}

// Programs get JSON, and so does everybody below /api/; it names the nearest endpoint.
func TestMissingEndpoints(t *testing.T) {
	f := newFront(t, nil, replayed)
	for _, path := range []string{"/nope", "/docs/nosuch"} {
		for _, accept := range []string{"", "*/*", "application/json", "text/html;q=0.5, application/json"} {
			f.get(path, "Accept", accept).want(t, http.StatusNotFound, `"type":"not_found"`)
		}
	}
	for path, want := range map[string][2]string{
		"/api/QRCode":                       {`there is no endpoint \"QRCode\"; did you mean qrcode?`, "没有接口 QRCode，是不是要找 qrcode？"},
		"/api/qrcod":                        {`there is no endpoint \"qrcod\"; did you mean qrcode?`, "没有接口 qrcod，是不是要找 qrcode？"},
		"/api/qrcod/":                       {`there is no endpoint \"qrcod\"; did you mean qrcode?`, "没有接口 qrcod，是不是要找 qrcode？"},
		"/api/nosuch-at":                    {"there is no such endpoint; see the list at /", "没有这个接口，接口列表见 /"},
		"/api/ip/more":                      {"there is no such endpoint; see the list at /", "没有这个接口，接口列表见 /"},
		"/api/" + strings.Repeat("q", 4000): {"there is no such endpoint; see the list at /", "没有这个接口，接口列表见 /"},
	} {
		for i, lang := range []string{"en", "zh"} {
			a := f.get(path, "Accept", browserAccepts, "Accept-Language", lang)
			a.want(t, http.StatusNotFound, want[i], `"type":"not_found"`)
			a.header(t, "Content-Type", "application/json")
		}
	}
}

// TestToolsThatAreOff: whoever sends a message there learns why nobody answers, whatever the method.
func TestToolsThatAreOff(t *testing.T) {
	f := newFront(t, nil, replayed)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		f.do(t.Context(), method, "/mcp", "Accept-Language", "en").want(t, http.StatusNotFound, "SUNDRY_MCP=true", `"type":"not_found"`)
		f.do(t.Context(), method, "/mcp", "Accept-Language", "zh").want(t, http.StatusNotFound, "没有给智能体用的工具")
	}
}

// TestMissingAPIs: APIs are meant as well, below their paths, too, and those that have Host names say where they are.
func TestMissingAPIs(t *testing.T) {
	f := newFront(t, map[string]string{
		"weather":  "version: 1\nname: weather\nproxy: {to: 'http://127.0.0.1:9/'}\n",
		"bulletin": "version: 1\nname: bulletin\nproxy: {to: 'http://127.0.0.1:9/', hosts: [news.example.org]}\n",
	}, servingAPIs)
	for path, want := range map[string][2]string{
		"/api/weathr":         {`there is no endpoint \"weathr\"; did you mean weather?`, "没有接口 weathr，是不是要找 weather？"},
		"/api/weathr/x/y?z=1": {`there is no endpoint \"weathr\"; did you mean weather?`, "没有接口 weathr，是不是要找 weather？"},
		"/api/bulletin/x":     {"bulletin is not here, but at news.example.org", "bulletin 不在这里，地址为 news.example.org"},
		"/api/nosuch-at/x":    {"there is no such endpoint; see the list at /", "没有这个接口，接口列表见 /"},
	} {
		for i, lang := range []string{"en", "zh"} {
			f.get(path, "Accept-Language", lang).want(t, http.StatusNotFound, want[i], `"type":"not_found"`)
		}
	}
	f.get("/weathr", "Accept", browserAccepts).want(t, http.StatusNotFound, `<a href="/docs/weather">`)
}

// servingAPIs lets a catalog have APIs, none of which is asked.
func servingAPIs(c *Config, _ *upstreams.Environment) {
	c.Calls = func(string, string) func(error, time.Duration) { return func(error, time.Duration) {} }
}

// TestMissingPageInABrowser: axe has no objection, and the link leads on.
func TestMissingPageInABrowser(t *testing.T) {
	t.Parallel()
	f := newFront(t, nil, replayed)
	b := browsertest.Open(t, f.URL)
	for _, lang := range []string{"en", "zh"} {
		b.Goto(t, f.URL+"/docs/qrcod?lang="+lang)
		b.AxeInEveryLook(t)
		b.Forgive("status of 404") // which Chromium writes to its console
		b.Sound(t)
	}
	b.Press(t, `main a[href="/docs/qrcode"]`)
	b.Text(t, "h1", "二维码生成")
	b.Sound(t)
}
