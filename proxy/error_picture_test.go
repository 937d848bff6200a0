package proxy

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"sundry/metrics/words"
	"sundry/upstreams"
)

// What browsers send for a picture in a page and for a page, and what a program
// sends that would rather have JSON.
const (
	acceptPicture = "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"
	acceptPage    = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8"
	acceptJSON    = "application/json, text/plain, */*"
)

// isPicture holds a body to the picture of an error in one of the two formats.
func isPicture(t *testing.T, contentType string, body []byte) {
	t.Helper()
	switch contentType {
	case contentPNG:
		if img, err := png.Decode(bytes.NewReader(body)); err != nil || img.Bounds().Dx() != 360 || img.Bounds().Dy() < 120 {
			t.Errorf("no picture of 360 by 120 pixels or more: %v", err)
		}
	case contentSVG:
		for d := xml.NewDecoder(bytes.NewReader(body)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
		}
	default:
		t.Errorf("%s is no picture: %s", contentType, body)
	}
}

// TestEveryErrorHasAPicture: one of its own, except for methods that load none. Its
// headers are those of any error, and it is drawn once.
func TestEveryErrorHasAPicture(t *testing.T) {
	f := newFront(t, nil)
	seen := map[string]string{}
	for _, each := range errorTypes() {
		errorType := each.example.errorType
		if errorType == typeMethod {
			continue
		}
		status := each.example.status
		for _, path := range []string{"/api/qrcode", "/api/qrcode?type=svg"} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				rec := failed(f, method, path, &failure{status: status, errorType: errorType, message: words.Name("m"), parameter: "p", retryAfter: 90 * time.Second})
				h, body := rec.Header(), rec.Body.Bytes()
				if rec.Code != status || h.Get("Sundry-Error") != errorType+"; parameter=p" || h.Get("Cache-Control") != "no-store" ||
					h.Get("Retry-After") != "90" || h.Get("X-Request-Id") != "id" || h.Get("X-Content-Type-Options") != "nosniff" ||
					!strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
					t.Errorf("%s %s: %d %v", method, path, rec.Code, h)
				}
				if method == http.MethodHead {
					if want := len(seen[path+errorType]); len(body) > 0 || h.Get("Content-Length") != strconv.Itoa(want) {
						t.Errorf("HEAD %s: %d bytes, Content-Length %s, want %d", path, len(body), h.Get("Content-Length"), want)
					}
					continue
				}
				isPicture(t, h.Get("Content-Type"), body)
				if h.Get("Content-Type") == contentSVG && !strings.Contains(string(body), errorType+" · qrcode") {
					t.Errorf("%s: does not say which endpoint: %s", errorType, body)
				}
				for other, said := range seen {
					if said == string(body) {
						t.Errorf("%s%s is the same as %s", path, errorType, other)
					}
				}
				seen[path+errorType] = string(body)
			}
		}
	}
	f.server.pictures.mu.Lock()
	defer f.server.pictures.mu.Unlock()
	if drawn := len(f.server.pictures.drawn); drawn != len(seen) {
		t.Errorf("%d pictures were drawn, want %d: each once", drawn, len(seen))
	}
}

// failed answers a request for a picture with a failure.
func failed(f *front, method, path string, what *failure) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	r := httptest.NewRequest(method, path, nil)
	r.Header.Set("Accept", acceptPicture)
	f.server.fail(&request{w: rec, r: r, id: requestID{given: "id"}, route: f.server.current.Load().routes["qrcode"]}, outcomeError, what)
	return rec
}

// TestWhoGetsAPicture: who asked for one, by the form or by Accept, and nobody else.
func TestWhoGetsAPicture(t *testing.T) {
	up := newFake(t, `{"v":"data:image/png;base64,AAAA"}`)
	pictured := strings.NewReplacer("name: simple", "name: pictured", "  - {name: json, json: .}\n", "  - {name: image, picture: .v}\n  - {name: json, json: .}\n").
		Replace(simple("ttl: 1ms, negative: 1m, pause: 1ms, pause_max: 1ms", up))
	f := newFront(t, map[string]string{"simple": simple("ttl: 1ms, pause: 1ms, pause_max: 1ms", up), "pictured": pictured}, replaying("avatar", "favicon", "ip", "qrcode"))
	f.env.Replay = nil
	f.load(nil)
	up.status.Store(http.StatusServiceUnavailable)
	const png, json, text, svg = "image/png", "application/json", "text/plain", "image/svg+xml"
	rows := []struct {
		path, accept string
		status       int
		want, says   string
	}{
		// The form is a picture.
		{"pictured", "", 502, png, "upstream_unavailable"},
		{"pictured", "*/*", 502, png, "upstream_unavailable"},
		{"pictured", acceptPicture, 502, png, "upstream_unavailable"},
		{"pictured", acceptPage, 502, png, "upstream_unavailable"},
		{"pictured", acceptJSON, 502, json, "upstream_unavailable"},
		{"pictured", "application/json", 502, json, "upstream_unavailable"},
		{"pictured", "text/html", 502, json, "upstream_unavailable"},
		{"pictured", "image/*;q=0, */*;q=0", 502, json, "upstream_unavailable"},
		{"pictured?type=image", "", 502, png, "upstream_unavailable"},
		// Another form was chosen.
		{"pictured?type=json", acceptPicture, 502, json, "upstream_unavailable"},
		{"pictured?type=text", acceptPicture, 502, text, "upstream_unavailable"},
		{"pictured?type=JSON", acceptPicture, 502, json, "upstream_unavailable"},
		// None was chosen, and the default is no picture; a redirect may lead to one.
		{"simple", acceptPicture, 502, png, "upstream_unavailable"},
		{"simple", "image/*", 502, png, "upstream_unavailable"},
		{"simple", acceptPage, 502, json, "upstream_unavailable"},
		{"simple", acceptJSON, 502, json, "upstream_unavailable"},
		{"simple", "", 502, json, "upstream_unavailable"},
		{"simple?type=goto", acceptPicture, 502, png, "upstream_unavailable"},
		{"simple?type=goto", "", 502, json, "upstream_unavailable"},
		{"nope", acceptPicture, 404, png, "not_found"},
		{"nope", "", 404, json, "not_found"},
		// A mistake of who accepts anything is explained.
		{"avatar", "", 400, json, "missing_parameter; parameter=uid"},
		{"avatar", "*/*", 400, json, "missing_parameter; parameter=uid"},
		{"avatar", acceptPicture, 400, png, "missing_parameter; parameter=uid"},
		{"avatar?uid=1&type=nothing", acceptPicture, 400, png, "invalid_parameter; parameter=uid"},
		// Whoever asked for a picture by name is shown one, unless JSON is preferred.
		{"qrcode?type=png", "", 400, png, "missing_parameter; parameter=text"},
		{"qrcode?type=svg&text=a&size=7", "*/*", 400, svg, "invalid_parameter; parameter=size"},
		{"qrcode?type=png", "application/json;q=0.5, */*", 400, png, "missing_parameter; parameter=text"},
		{"qrcode?type=png", "application/json, */*;q=0.5", 400, json, "missing_parameter; parameter=text"},
		{"qrcode?type=png", acceptJSON, 400, json, "missing_parameter; parameter=text"},
		{"qrcode", "*/*", 400, json, "missing_parameter; parameter=text"},
		{"favicon?url=http://127.0.0.1/&type=image", "*/*", 403, png, "forbidden_target; parameter=url"},
		{"favicon?url=http://127.0.0.1/", "", 403, json, "forbidden_target; parameter=url"},
		{"favicon?url=http://127.0.0.1/", acceptPicture, 403, png, "forbidden_target; parameter=url"},
		{"qrcode?type=SVG", acceptPicture, 400, svg, "missing_parameter; parameter=text"},
		{"ip?ip=x&callback=cb", acceptPicture, 200, "text/javascript", "invalid_parameter; parameter=ip"},
	}
	for _, row := range rows {
		a := f.get("/api/"+row.path, "Accept", row.accept)
		if row.accept == "" {
			a = f.get("/api/" + row.path)
		}
		typ, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
		if a.StatusCode != row.status || typ != row.want || a.Header.Get("Sundry-Error") != row.says {
			t.Errorf("%s for %q: %d %s %q, want %d %s %q", row.path, row.accept, a.StatusCode, typ, a.Header.Get("Sundry-Error"), row.status, row.want, row.says)
		}
		if strings.HasPrefix(row.want, "image/") {
			isPicture(t, typ, []byte(a.body))
		}
	}
	f.do(t.Context(), http.MethodPost, "/api/pictured", "Accept", acceptPicture).header(t, "Content-Type", "application/json")
	up.status.Store(http.StatusNotFound)
	a := f.get("/api/pictured?id=2", "Accept", acceptPicture)
	a.want(t, http.StatusNotFound)
	a.header(t, "Cache-Control", "public, max-age=")
	a.header(t, "Vary", "Accept")
	isPicture(t, a.Header.Get("Content-Type"), []byte(a.body))
}

// A client over its rate is refused before its parameters are read.
func TestRefusalsInPictures(t *testing.T) {
	f := newFront(t, nil, replaying("qrcode"), func(c *Config, _ *upstreams.Environment) { c.Limits = Limits{Rate: 0.001, Burst: 1} })
	f.get("/api/qrcode?text=a").want(t, http.StatusOK)
	for query, want := range map[string]string{"text=a": contentPNG, "type=svg": contentSVG, "type=text": contentText} {
		a := f.get("/api/qrcode?" + query)
		a.want(t, http.StatusTooManyRequests)
		a.header(t, "Content-Type", want)
		a.header(t, "Retry-After", "1")
		a.header(t, "Sundry-Error", "rate_limited")
	}
}

func TestWeigh(t *testing.T) {
	for accept, want := range map[string]acceptedTypes{
		acceptPicture:                        {image: 1, anything: 0.8},
		acceptPage:                           {image: 1, page: 1, anything: 0.8},
		acceptJSON:                           {json: 1, anything: 1},
		"IMAGE/PNG;q=0.5, text/html ; Q=0.4": {image: 0.5, page: 0.4},
		"image/*;q=0,*/*;q=0":                {},
		"application/problem+json;q=0.2":     {json: 0.2},
		"image/png;q=NaN, image/gif;q=7":     {image: 1},
		",;,":                                {},
	} {
		if got := weigh([]string{accept}); got != want {
			t.Errorf("%s: %+v, want %+v", accept, got, want)
		}
	}
	if got := weigh(nil); got != (acceptedTypes{anything: 1}) {
		t.Errorf("none: %+v", got)
	}
	lines := []string{acceptPage, acceptJSON}
	if n := testing.AllocsPerRun(100, func() { weigh(lines) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestErrorPicturesSayWhy, in the caller's language: which parameter is at fault and what it
// takes, when to try again, and never what the caller sent.
func TestErrorPicturesSayWhy(t *testing.T) {
	f := newFront(t, nil, replaying("qrcode"))
	for wait, says := range map[time.Duration][2]string{
		0: {"Try again later.", "请稍后再试。"}, time.Second: {"Try again in 1 s.", "请 1 秒后再试。"},
		59500 * time.Millisecond: {"Try again in 60 s.", "请 60 秒后再试。"}, 61 * time.Second: {"Try again in 2 min.", "请 2 分钟后再试。"},
	} {
		for i, language := range []string{"en", "zh"} {
			rec := failed(f, http.MethodGet, "/api/qrcode?type=svg&lang="+language, &failure{status: 429, errorType: typeLimited, message: words.Name("m"), retryAfter: wait})
			if body := rec.Body.String(); !strings.Contains(body, ">"+says[i]+"<") {
				t.Errorf("%v: does not say %q: %s", wait, says[i], body)
			}
		}
	}
	const path = "/api/qrcode?type=svg&text=a&size="
	en, zh := f.get(path+"7", "Accept", acceptPicture, "Accept-Language", "en"), f.get(path+"7", "Accept", acceptPicture)
	en.want(t, http.StatusBadRequest, "A parameter is not valid", "size: expected a whole number", "from 50 to 2000", "for example size=300", "400 invalid_parameter", `xml:lang="en"`)
	zh.want(t, http.StatusBadRequest, "参数有误", "size：应为 50 到 2000 的整数，例如", "size=300")
	en.header(t, "Content-Language", "en")
	zh.header(t, "Content-Language", "zh-CN")
	en.header(t, "Vary", "Accept-Language")
	if other := f.get(path+"8", "Accept", acceptPicture); other.body != zh.body {
		t.Error("another value is another picture")
	}
}

// TestForbiddenTargetsSayWhy, as a picture, too, and the picture nothing else that could be taken for the reason.
func TestForbiddenTargetsSayWhy(t *testing.T) {
	f := newFront(t, nil, replaying("dwzrec", "favicon"))
	for _, row := range []struct{ path, language, message, about string }{
		{"dwzrec?url=http://127.0.0.1/", "en", "only other services on the public internet may be called", "Only other services on the public internet may be called."},
		{"dwzrec?url=http://127.0.0.1/", "zh-CN", "不允许访问该地址，只能访问公网上的其他服务", "只能访问公网上的其他服务。"},
		{"dwzrec?url=ftp://t.cn/", "en", `\"ftp://t.cn/\" has a scheme other than http and https; expected`, "url: the value has a scheme other than http and https"},
		{"favicon?url=http://127.0.0.1/", "zh-CN", "是 IP 地址；应为域名", "url：所给的值是 IP 地址"},
	} {
		f.get("/api/"+row.path, "Accept", acceptJSON, "Accept-Language", row.language).want(t, http.StatusForbidden, row.message)
		clear(f.server.pictures.drawn)
		f.get("/api/"+row.path, "Accept", acceptPicture, "Accept-Language", row.language).want(t, http.StatusForbidden)
		for drawn := range f.server.pictures.drawn {
			if drawn.about != row.about || drawn.example != "" {
				t.Errorf("%s in %s: %q %q, want %q", row.path, row.language, drawn.about, drawn.example, row.about)
			}
		}
		if len(f.server.pictures.drawn) != 1 {
			t.Errorf("%s: %d pictures, want 1", row.path, len(f.server.pictures.drawn))
		}
	}
}

// TestErrorPicturesSayWhatWasNotFound, in the caller's language, as the text does.
func TestErrorPicturesSayWhatWasNotFound(t *testing.T) {
	up := newFake(t, `{}`)
	up.status.Store(http.StatusNotFound)
	told := strings.Replace(simple("ttl: 1ms, negative: 1m", up), "name: simple", "name: told\nnot_found: {en: '\"there is no joke \\($params.id)\"', zh: '\"没有编号为 \\($params.id) 的笑话\"'}", 1)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1ms, negative: 1m", up), "told": told})
	for _, row := range []struct{ path, language, about string }{
		{"told?id=7", "en", "there is no joke 7"},
		{"told?id=7", "zh-CN", "没有编号为 7 的笑话"},
		{"simple?id=7", "en", "What was asked for does not exist."},
		{"told7/x/y", "en", "There is no such endpoint."},
		{"told7/x/y", "zh-CN", "没有这个接口。"},
		{"told7", "en", "There is no such endpoint. Did you mean told?"},
		{"told7", "zh-CN", "没有这个接口，是不是要找 told？"},
	} {
		clear(f.server.pictures.drawn)
		f.get("/api/"+row.path, "Accept", acceptPicture, "Accept-Language", row.language).want(t, http.StatusNotFound)
		for drawn := range f.server.pictures.drawn {
			if drawn.about != row.about {
				t.Errorf("%s in %s: %q, want %q", row.path, row.language, drawn.about, row.about)
			}
		}
		if len(f.server.pictures.drawn) != 1 {
			t.Errorf("%s: %d pictures, want 1", row.path, len(f.server.pictures.drawn))
		}
	}
}
