package proxy

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/upstreams"
	"sundry/upstreams/fixtures"
	"sundry/upstreams/lib/waittest"
)

// TestEveryExampleInEveryForm calls what the home page shows, twice.
func TestEveryExampleInEveryForm(t *testing.T) {
	t.Parallel()
	f := newFront(t, nil, replayed)
	for _, e := range f.server.current.Load().catalog.Endpoints {
		for i, q := range fixtures.Examples(e) {
			path := "/api/" + e.Name + "/index.php?" + q
			if !e.Policy.Stores() || e.Name == "sjbz" {
				continue // not stored, or drawn from several pools: each has a test of its own
			}
			first, second := f.get(path), f.get(path)
			for _, a := range []answer{first, second} {
				if a.StatusCode != http.StatusOK && a.StatusCode != http.StatusFound {
					t.Errorf("%s: %d %s", path, a.StatusCode, a.body)
				}
				for _, name := range []string{"X-Request-Id", "Cache-Control", "Cache-Status", "Sundry-Source", "Age"} {
					if a.Header.Get(name) == "" {
						t.Errorf("%s: no %s", path, name)
					}
				}
				a.header(t, "Access-Control-Allow-Origin", "*")
				a.header(t, "X-Content-Type-Options", "nosniff")
				a.header(t, "Sundry-Source", "replay:")
			}
			if i == 0 {
				first.header(t, "Cache-Status", "fwd=uri-miss; stored")
			}
			second.header(t, "Cache-Status", "sundry; hit; ttl=")
			second.header(t, "Cache-Status", "detail=memory")
		}
	}
}

func TestPathsOfAnEndpoint(t *testing.T) {
	f := newFront(t, nil, replaying("60s"))
	for _, path := range []string{"/api/60s/index.php", "/api/60s", "/api/60s/"} {
		f.get(path).want(t, http.StatusOK, `"code":200`)
	}
	for _, path := range []string{"/api/", "/api/60s/other", "/api/60s/index.php/x", "/api/nope", "/nope", "/api/60S"} {
		f.get(path).want(t, http.StatusNotFound, `"type":"not_found"`, `"code":404`, "request_id")
	}
}

func TestBasePath(t *testing.T) {
	f := newFront(t, nil, replaying("60s"))
	f.server.cfg.BasePath = "/tools"
	f.get("/tools/api/60s").want(t, http.StatusOK)
	f.get("/tools/healthz").want(t, http.StatusOK)
	f.get("/api/60s").want(t, http.StatusNotFound)
	if _, err := New(Config{BasePath: "tools/"}); err == nil {
		t.Error("a base path without a leading slash was accepted")
	}
}

func TestMethods(t *testing.T) {
	f := newFront(t, nil, replaying("60s", "music"))
	get := f.get("/api/60s")
	head := f.do(t.Context(), http.MethodHead, "/api/60s")
	if head.StatusCode != http.StatusOK || head.body != "" || head.ContentLength != get.ContentLength {
		t.Errorf("HEAD: %d, %d bytes of %q", head.StatusCode, head.ContentLength, head.body)
	}
	if text := f.get("/api/music?type=text&tail=end").body; !strings.HasSuffix(text, "\nend\n") || strings.Contains(text, "\n\n") {
		t.Errorf("a text with a tail: %q", text)
	}
	preflight := f.do(t.Context(), http.MethodOptions, "/api/60s")
	preflight.want(t, http.StatusNoContent)
	preflight.header(t, "Access-Control-Allow-Methods", "GET")
	for _, m := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, "BREW"} {
		a := f.do(t.Context(), m, "/api/60s")
		a.want(t, http.StatusMethodNotAllowed, `"type":"method_not_allowed"`)
		a.header(t, "Allow", "GET, HEAD, OPTIONS")
	}
}

func TestEnvelope(t *testing.T) {
	up := newFake(t, `{"v":"中文 <b> & 'x'","big":12345678901234567890}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1m", up)})
	a := f.get("/api/simple")
	a.want(t, http.StatusOK, `中文 <b> & 'x'`, `12345678901234567890`)
	if !strings.HasPrefix(a.body, `{"code":200,"message":"ok","data":{`) {
		t.Errorf("envelope: %s", a.body)
	}
	a.header(t, "Content-Type", "application/json; charset=utf-8")
	f.get("/api/simple?type=text").header(t, "Content-Type", "text/plain; charset=utf-8")
}

func TestConditionalRequests(t *testing.T) {
	f := newFront(t, nil, replaying("60s", "yiyan"))
	tag := f.get("/api/60s").Header.Get("Etag")
	for header, want := range map[string]int{
		tag: 304, strings.TrimPrefix(tag, "W/"): 304, `"other", ` + tag: 304, "*": 304, `"other"`: 200, "": 200,
	} {
		a := f.get("/api/60s", "If-None-Match", header)
		if a.StatusCode != want || want == 304 && a.body != "" {
			t.Errorf("If-None-Match %s: %d, want %d", header, a.StatusCode, want)
		}
		if a.Header.Get("Etag") != tag {
			t.Errorf("If-None-Match %s: no ETag", header)
		}
	}
	if tag := f.get("/api/yiyan").Header.Get("Etag"); tag != "" {
		t.Errorf("a random answer has the ETag %s", tag)
	}
}

func TestRandomIsNotStoredByAnybody(t *testing.T) {
	f := newFront(t, nil, replaying("wpcat", "yiyan"))
	seen := map[string]bool{}
	for range 40 {
		a := f.get("/api/yiyan")
		a.header(t, "Cache-Control", "no-store")
		seen[a.body] = true
	}
	if len(seen) < 20 {
		t.Errorf("%d different quotes in 40 requests", len(seen))
	}
	image := f.get("/api/wpcat?type=image")
	image.want(t, http.StatusFound)
	image.header(t, "Cache-Control", "no-store")
	image.header(t, "Referrer-Policy", "no-referrer")
	image.header(t, "Location", "https://p15.qhimg.com/")
}

func TestCompression(t *testing.T) {
	up := newFake(t, `{"v":"`+strings.Repeat("long text ", 500)+`"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1m", up)})
	plain := f.get("/api/simple").body
	for _, coding := range []string{"gzip", "zstd"} { // they are made behind the requests that ask first
		waittest.Until(t, "the coding "+coding, func() bool {
			return f.get("/api/simple", "Accept-Encoding", coding).Header.Get("Content-Encoding") == coding
		})
	}
	for accept, coding := range map[string]string{
		"gzip": "gzip", "zstd": "zstd", "gzip, zstd": "zstd", "gzip;q=0": "", "gzip;q=0, *": "zstd",
		"*": "zstd", "*;q=0": "", "br": "", "": "", "zstd;q=0.0, gzip;q=0.5": "gzip", "GZIP": "gzip",
	} {
		a := f.get("/api/simple", "Accept-Encoding", accept)
		if got := a.Header.Get("Content-Encoding"); got != coding {
			t.Errorf("Accept-Encoding %q: %q, want %q", accept, got, coding)
		}
		a.header(t, "Vary", "Accept-Encoding")
		if got := unpack(t, a.Header.Get("Content-Encoding"), a.body); got != plain {
			t.Errorf("Accept-Encoding %q: the body differs", accept)
		}
	}
}

func unpack(t *testing.T, coding, body string) string {
	t.Helper()
	var r io.Reader = strings.NewReader(body)
	switch coding {
	case "gzip":
		z, err := gzip.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		r = z
	case "zstd":
		z, err := zstd.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		r = z
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestJSONP(t *testing.T) {
	f := newFront(t, nil, replaying("ip"))
	a := f.get("/api/ip?ip=8.8.8.8&callback=app.show_1")
	a.want(t, http.StatusOK)
	a.header(t, "Content-Type", "text/javascript")
	inner, ok := strings.CutPrefix(a.body, "/**/app.show_1(")
	inner, ok2 := strings.CutSuffix(inner, ");")
	if !ok || !ok2 || !json.Valid([]byte(inner)) {
		t.Errorf("JSONP: %s", a.body)
	}
	for _, bad := range []string{"a-b", "1a", "a..b", "a(", "alert%281%29", "%3Cscript%3E", strings.Repeat("a", 65), "a%0ab"} {
		f.get("/api/ip?ip=8.8.8.8&callback="+bad).want(t, http.StatusBadRequest, `"parameter":"callback"`)
	}
}

// TestErrorsInText: with type=text anywhere in the query, an error is text,
// whatever is wrong and whatever forms the endpoint has.
func TestErrorsInText(t *testing.T) {
	up := newFake(t, `{"v":"x"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", up)}, replayed)
	for path, status := range map[string]int{
		"wpcat?n=99&type=text": 400, "wpcat?type=text&n=99": 400, "sfz?type=text": 400, "sfz?type=text&card=1": 400, "kd?type=text": 400,
		"kd?id=1&type=text": 400, "onlinestatus?type=text": 400, "gamestatus?type=text": 400, "dwzrec?type=text": 400, "dwzrec?url=nothing%20here&type=text": 400,
		"qrcode?type=text": 400, "qrcode?t%79pe=%74ext": 400, "avatar?uid=1&type=text": 400, "favicon?type=text": 400, "vidparse?type=text&url=1": 400,
		"music?format=no&type=text": 400, "sjsp?type=text&type=no": 200, "nope?type=text": 404, "simple?type=text&id=x": 400,
		"ip?ip=x&callback=cb&type=text": 400,
	} {
		a := f.get("/api/" + path)
		a.want(t, status)
		if status == http.StatusOK {
			continue
		}
		a.header(t, "Content-Type", "text/plain; charset=utf-8")
		if strings.Count(a.body, "\n") != 1 || !strings.HasSuffix(a.body, "\n") || strings.HasPrefix(a.body, "{") {
			t.Errorf("%s: want a line: %q", path, a.body)
		}
	}
	a := f.do(t.Context(), http.MethodPost, "/api/60s?type=text")
	a.want(t, http.StatusMethodNotAllowed)
	a.header(t, "Content-Type", "text/plain")
	f.get("/api/wpcat?n=99&xtype=text&type=texts").header(t, "Content-Type", "application/json")
}

func TestRefusalsInText(t *testing.T) {
	up := newFake(t, `{"v":"x"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", up)}, func(c *Config, _ *upstreams.Environment) { c.Limits = Limits{Rate: 0.001, Burst: 1} })
	f.get("/api/simple?type=text").want(t, http.StatusOK)
	a := f.get("/api/simple?type=text")
	a.want(t, http.StatusTooManyRequests)
	a.header(t, "Content-Type", "text/plain")
	f = newFront(t, map[string]string{"simple": simple("ttl: 1h", up)})
	f.server.admission.setLimits(Limits{}) // no request may wait
	a = f.get("/api/simple?type=text")
	a.want(t, http.StatusServiceUnavailable)
	a.header(t, "Content-Type", "text/plain")
}

// TestErrorsCallBack: browsers do not run a script whose status is an error.
func TestErrorsCallBack(t *testing.T) {
	f := newFront(t, nil, replaying("ip", "wpcat"), func(c *Config, _ *upstreams.Environment) { c.Registerer = prometheus.NewRegistry() })
	a := f.get("/api/ip?ip=x&callback=app.show_1")
	a.want(t, http.StatusOK, `"code":400`, `"type":"invalid_parameter"`)
	a.header(t, "Content-Type", "text/javascript; charset=utf-8")
	a.header(t, "X-Content-Type-Options", "nosniff")
	a.header(t, "Cache-Control", "no-store")
	inner, ok := strings.CutPrefix(a.body, "/**/app.show_1(")
	inner, ok2 := strings.CutSuffix(inner, ");")
	if !ok || !ok2 || !json.Valid([]byte(inner)) {
		t.Errorf("%s", a.body)
	}
	if n := testutil.ToFloat64(f.server.metrics.requests.WithLabelValues("ip", "invalid", "4xx")); n != 1 {
		t.Errorf("%v requests were counted with their real status", n)
	}
	f.get("/api/ip?callback=cb&callback=b-d&ip=x").want(t, http.StatusOK, "/**/cb({")
	for _, path := range []string{"ip?ip=x&callback=b-d", "ip?ip=x&callback=", "wpcat?n=99&callback=cb", "nope?callback=cb"} {
		a := f.get("/api/" + path)
		if a.StatusCode < 400 || !strings.HasPrefix(a.body, "{") {
			t.Errorf("%s: %d %s", path, a.StatusCode, a.body)
		}
	}
	f.do(t.Context(), http.MethodPost, "/api/ip?callback=cb").want(t, http.StatusMethodNotAllowed)
	head := f.do(t.Context(), http.MethodHead, "/api/ip?ip=x&callback=cb")
	if head.StatusCode != http.StatusOK || head.body != "" {
		t.Errorf("HEAD: %d %q", head.StatusCode, head.body)
	}
}

// TestBadInput sends every parameter values that it must refuse.
func TestBadInput(t *testing.T) {
	f := newFront(t, nil, replaying("60s", "avatar", "dailywp", "gamestatus", "ip", "qrcode", "wpcat", "yiyan"))
	rows := []struct{ query, parameter, kind string }{
		{"wpcat?n=0", "n", "invalid_parameter"}, {"wpcat?n=17", "n", "invalid_parameter"}, {"wpcat?n=25", "n", "invalid_parameter"},
		{"wpcat?n=x", "n", "invalid_parameter"}, {"wpcat?n=1.5", "n", "invalid_parameter"}, {"wpcat?n=99999999999999999999", "n", "invalid_parameter"},
		{"wpcat?p=0", "p", "invalid_parameter"}, {"wpcat?p=-1", "p", "invalid_parameter"}, {"wpcat?type=xml", "type", "invalid_parameter"},
		{"wpcat?n=%zz", "n", "invalid_parameter"},
		{"dailywp?type=png", "type", "invalid_parameter"}, {"60s?type=xml", "type", "invalid_parameter"}, {"yiyan?type=svg", "type", "invalid_parameter"},
		{"ip?ip=256.1.1.1", "ip", "invalid_parameter"}, {"ip?ip=127.1", "ip", "invalid_parameter"}, {"ip?ip=example.org", "ip", "invalid_parameter"},
		{"ip?ip=10.0.0.0/8", "ip", "invalid_parameter"}, {"ip?ip=fe80::1%25eth0", "ip", "invalid_parameter"},
		{"avatar", "uid", "missing_parameter"}, {"avatar?uid=", "uid", "missing_parameter"}, {"avatar?uid=1234", "uid", "invalid_parameter"},
		{"avatar?uid=012345", "uid", "invalid_parameter"}, {"avatar?uid=123456789012", "uid", "invalid_parameter"},
		{"avatar?uid=10001%26s=640", "uid", "invalid_parameter"}, {"avatar?uid=10001&type=xml", "type", "invalid_parameter"},
		{"qrcode", "text", "missing_parameter"}, {"qrcode?text=a&size=49", "size", "invalid_parameter"}, {"qrcode?text=a&size=2001", "size", "invalid_parameter"},
		{"qrcode?text=a&size=big", "size", "invalid_parameter"}, {"qrcode?text=%ff", "text", "invalid_parameter"},
		{"qrcode?text=" + strings.Repeat("x", 3000), "text", "invalid_parameter"}, {"qrcode?size=50&text=" + strings.Repeat("x", 200), "size", "invalid_parameter"},
		{"qrcode?text=a&type=gif", "type", "invalid_parameter"},
		{"gamestatus", "host", "missing_parameter"}, {"gamestatus?host=a%20b", "host", "invalid_parameter"}, {"gamestatus?host=x:99999", "host", "invalid_parameter"},
		{"gamestatus?host=0x7f.1", "host", "invalid_parameter"}, {"gamestatus?host=http://example.org", "host", "invalid_parameter"},
	}
	for _, r := range rows {
		a := f.get("/api/" + r.query)
		var doc struct {
			Code    int
			Message string
			Error   struct {
				Type, Parameter string
				RequestID       string `json:"request_id"`
			}
		}
		if err := json.Unmarshal([]byte(a.body), &doc); err != nil {
			t.Errorf("%.60s: %v: %s", r.query, err, a.body)
			continue
		}
		if a.StatusCode != http.StatusBadRequest || doc.Code != http.StatusBadRequest || doc.Error.Type != r.kind || doc.Error.Parameter != r.parameter {
			t.Errorf("%.60s: %d %+v", r.query, a.StatusCode, doc)
		}
		if doc.Error.RequestID != a.Header.Get("X-Request-Id") || !strings.Contains(doc.Message, r.parameter) {
			t.Errorf("%.60s: id or message: %s", r.query, a.body)
		}
	}
}

func TestForgivingInput(t *testing.T) {
	f := newFront(t, nil, replaying("ip", "wpcat"))
	rows := map[string]string{
		"wpcat?n=26":                 `"cid":26`,
		"wpcat?n=":                   `"cid":26`,
		"wpcat?n=6&n=99":             `"n":6`,
		"wpcat?unknown=1&type=":      `"code":200`,
		"ip?ip=%3A%3Affff%3A8.8.8.8": `"ip":"8.8.8.8"`,
		"ip?ip=10.0.0.1":             `"scope":"private"`,
		"ip":                         `"scope":"loopback"`,
	}
	for query, want := range rows {
		f.get("/api/"+query).want(t, http.StatusOK, want)
	}
	if a := f.get("/api/wpcat?n=26"); !strings.Contains(a.Header.Get("Cache-Status"), "hit") {
		t.Error("n=26 and no n do not share a key")
	}
}

func TestRequestID(t *testing.T) {
	f := newFront(t, nil, replaying("60s"))
	if got := f.get("/api/60s", "X-Request-Id", "abc-123").Header.Get("X-Request-Id"); got != "abc-123" {
		t.Errorf("a plain id became %q", got)
	}
	for _, bad := range []string{"a b", "<x>", strings.Repeat("x", 65)} {
		if got := f.get("/api/60s", "X-Request-Id", bad).Header.Get("X-Request-Id"); got == bad || len(got) != 16 {
			t.Errorf("id %q became %q", bad, got)
		}
	}
}

func TestPages(t *testing.T) {
	f := newFront(t, nil, replayed)
	home := f.get("/")
	home.want(t, http.StatusOK, `href="/api/gamestatus"`, "60 秒读世界")
	home.header(t, "Content-Type", "text/html")
	f.get("/readyz").want(t, http.StatusServiceUnavailable, "draining")
	f.server.SetReady(true)
	f.get("/readyz").want(t, http.StatusOK)
	f.get("/healthz").want(t, http.StatusOK)
	for _, path := range []string{"/", "/status", "/status.json", "/status/now.json", "/healthz", "/readyz"} {
		f.do(t.Context(), http.MethodPost, path).want(t, http.StatusMethodNotAllowed, `"type":"method_not_allowed"`)
	}
}

// TestRestoredLinksAreShownFirst: the service is no open redirect; a page shows
// where the link leads.
func TestRestoredLinksAreShownFirst(t *testing.T) {
	f := newFront(t, nil, replaying("dwzrec"))
	for _, link := range []string{"https%3A%2F%2Ft.cn%2FA6abcdef", "https%3A%2F%2Fexample.com%2Farticle%2F42"} {
		for _, more := range []string{"", "&callback=x", "&tail=x"} {
			a := f.get("/api/dwzrec?type=redirect&url=" + link + more)
			a.want(t, http.StatusOK, `href="https://example.com/`, `rel="nofollow`)
			a.header(t, "Content-Type", "text/html; charset=utf-8")
			a.header(t, "Content-Security-Policy", "default-src 'none'")
			a.header(t, "Referrer-Policy", "no-referrer")
			a.header(t, "X-Content-Type-Options", "nosniff")
			if a.Header.Get("Location") != "" || strings.Contains(a.body, "<script") {
				t.Errorf("%s: %v %s", link, a.Header, a.body)
			}
		}
	}
}
