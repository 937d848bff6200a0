package admin

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sundry/proxy/site/i18n"
)

func TestCheckAddress(t *testing.T) {
	for addr, want := range map[string]bool{
		"127.0.0.1:9090": true, "127.8.9.1:0": true, "[::1]:9090": true, "localhost:9090": true,
		":9090": false, "0.0.0.0:9090": false, "[::]:9090": false, "192.168.1.1:9090": false, "example.org:9090": false, "9090": false,
	} {
		if err := CheckAddress(addr, ""); (err == nil) != want {
			t.Errorf("%s without a token: %v", addr, err)
		}
		if err := CheckAddress(addr, rightToken); err != nil {
			t.Errorf("%s with a token: %v", addr, err)
		}
		if err := CheckAddress(addr, rightToken[1:]); (err == nil) != want || err != nil && addr != "9090" && !strings.Contains(err.Error(), "openssl rand -hex 24") {
			t.Errorf("%s with a token of 15 characters: %v", addr, err)
		}
	}
}

func handler(token string) http.Handler {
	return New(Config{Token: token, Ready: func() bool { return false }, Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("metrics")) })})
}

func get(h http.Handler, path, authorization string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:9090"+path, nil)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestTokenLocksEverything(t *testing.T) {
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap", "/healthz/", "/readyz2", "/nope"} {
		for _, wrong := range []string{"", "secret", "Bearer", "Bearer ", "Bearer wrong", "bearer wrong", "Bearers secret", "Basic secret", "Bearer secret "} {
			h := handler("secret") // one that has seen no wrong token yet
			if w := get(h, path, wrong); w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") == "" || strings.Contains(w.Body.String(), "secret") {
				t.Errorf("%s with %q: %d", path, wrong, w.Code)
			}
		}
	}
	for _, right := range []string{"Bearer secret", "bearer secret", "BEARER  secret", "basic OnNlY3JldA==", "BASIC OnNlY3JldA=="} {
		if w := get(handler("secret"), "/metrics", right); w.Code != http.StatusOK || w.Body.String() != "metrics" {
			t.Errorf("with %q: %d %s", right, w.Code, w.Body)
		}
	}
}

func TestOpenOnLoopback(t *testing.T) {
	h := handler("")
	for path, want := range map[string]int{"/metrics": 200, "/healthz": 200, "/readyz": 503, "/debug/pprof/": 200, "/nope": 404} {
		if w := get(h, path, ""); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}

func TestPagesOfOtherSitesAreRefused(t *testing.T) {
	h := handler("")
	for host, want := range map[string]int{"localhost:9090": 200, "127.0.0.1": 200, "[::1]:9090": 200, "evil.example": 403, "evil.example:9090": 403, "10.0.0.1": 403, "": 403} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Host = host
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("as %q: %d, want %d", host, w.Code, want)
		}
	}
	for site, want := range map[string]int{"cross-site": 403, "same-site": 403, "same-origin": 404, "none": 404} {
		r := httptest.NewRequest(http.MethodPost, "http://localhost:9090/admin/api/nothing", nil)
		r.Header.Set("Sec-Fetch-Site", site)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%s: %d, want %d", site, w.Code, want)
		}
	}
}

func TestTheTokenIsAPasswordForBrowsers(t *testing.T) {
	h := handler("secret")
	for password, want := range map[string]int{"secret": 200, "wrong": 401, "": 401} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.SetBasicAuth("me", password)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%q: %d, want %d", password, w.Code, want)
		}
	}
}

// TestPagesOfOtherSitesChangeNothing: what a browser on the operator's machine can
// be made to send is refused, under the name of this machine (CSRF) and under
// one that was made to lead here (DNS rebinding), with a token and without.
func TestPagesOfOtherSitesChangeNothing(t *testing.T) {
	for name, row := range map[string]struct {
		host   string
		header map[string]string
	}{
		"a form, by its origin":             {"localhost:9090", map[string]string{"Origin": "http://evil.example"}},
		"a form, by its site":               {"127.0.0.1:9090", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}},
		"a sandboxed frame":                 {"127.0.0.1:9090", map[string]string{"Origin": "null"}},
		"another port of this machine":      {"localhost:9090", map[string]string{"Origin": "http://localhost:8080"}},
		"another service of this site":      {"localhost:9090", map[string]string{"Sec-Fetch-Site": "same-site"}},
		"a name that was made to lead here": {"evil.example:9090", map[string]string{"Origin": "http://evil.example:9090", "Sec-Fetch-Site": "same-origin"}},
		"such a name, an old browser":       {"evil.example:9090", nil},
	} {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
			r := httptest.NewRequest(method, "http://"+row.host+"/admin/api/reload", nil)
			for k, v := range row.header {
				r.Header.Set(k, v)
			}
			w := httptest.NewRecorder()
			if handler("").ServeHTTP(w, r); w.Code != http.StatusForbidden {
				t.Errorf("%s: %s: %d", name, method, w.Code)
			}
			if row.host == "evil.example:9090" {
				continue // a browser has no password for that name
			}
			r.SetBasicAuth("me", rightToken)
			w = httptest.NewRecorder()
			if handler(rightToken).ServeHTTP(w, r); w.Code != http.StatusForbidden {
				t.Errorf("%s, with the password: %s: %d", name, method, w.Code)
			}
		}
	}
}

// TestPagesOfOtherSitesReadNothing, not even to make it cost: a profile takes a
// CPU for as long as is asked. A link to the console is followed.
func TestPagesOfOtherSitesReadNothing(t *testing.T) {
	visit := map[string]string{"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
	frame := map[string]string{"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
	picture := map[string]string{"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
	for _, row := range []struct {
		path, site string
		how        map[string]string
		want       int
	}{
		{"/debug/pprof/heap", "cross-site", picture, 403}, {"/debug/pprof/heap", "cross-site", visit, 403}, {"/metrics", "same-site", picture, 403},
		{"/admin/", "cross-site", frame, 403}, {"/admin/", "cross-site", visit, 404}, {"/admin/runbook.html", "cross-site", visit, 404}, {"/admin/runbook.zh.html", "cross-site", visit, 404}, {"/admin/runbook.html", "cross-site", frame, 403}, {"/admin/api/audit", "cross-site", visit, 403},
		{"/metrics", "same-origin", picture, 200}, {"/metrics", "none", visit, 200},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost:9090"+row.path, nil)
		r.Header.Set("Sec-Fetch-Site", row.site)
		for k, v := range row.how {
			r.Header.Set(k, v)
		}
		w := httptest.NewRecorder()
		if handler("").ServeHTTP(w, r); w.Code != row.want {
			t.Errorf("%s, %s, %v: %d, want %d", row.path, row.site, row.how, w.Code, row.want)
		}
	}
}

// TestSecurityHeaders are on every answer, errors included.
func TestSecurityHeaders(t *testing.T) {
	for name, w := range map[string]*httptest.ResponseRecorder{
		"metrics": get(handler(""), "/metrics", ""), "nothing": get(handler(""), "/nope", ""), "no token": get(handler(rightToken), "/metrics", ""),
		"not ready": get(handler(""), "/readyz", ""), "profiles": get(handler(""), "/debug/pprof/", ""),
	} {
		for header, want := range map[string]string{
			"Cache-Control": "no-store", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
		} {
			if got := w.Header().Get(header); got != want {
				t.Errorf("%s: %s: %q, want %q", name, header, got, want)
			}
		}
	}
}

func TestBodiesAreBounded(t *testing.T) {
	for name, length := range map[string]int64{"said": maxBody + 1, "not said": -1} {
		r := httptest.NewRequest(http.MethodPost, "http://localhost:9090/metrics", strings.NewReader(strings.Repeat(" ", maxBody+1)))
		r.ContentLength = length
		var err error
		w := httptest.NewRecorder()
		limitBody(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { err = decodeBody(r, &struct{}{}) })).ServeHTTP(w, r)
		if length >= 0 && w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d", name, w.Code)
		}
		r.Header.Set("Content-Type", "application/json")
		r.ContentLength = -1
		if limitBody(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { err = decodeBody(r, &struct{}{}) })).ServeHTTP(w, r); statusOf(err) != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCommandLineIsNotServed: a flag may hold a password.
func TestCommandLineIsNotServed(t *testing.T) {
	if w := get(handler(""), "/debug/pprof/cmdline", ""); w.Code != http.StatusNotFound {
		t.Errorf("%d %q", w.Code, w.Body)
	}
}

// TestWhoAsksForNoLanguageGetsThatOfTheOperator as on the public listener.
func TestWhoAsksForNoLanguageGetsThatOfTheOperator(t *testing.T) {
	for rule, want := range map[i18n.Rule]string{{}: "zh-CN", {English: true}: "en"} {
		h := New(Config{Token: rightToken, Languages: rule, Ready: func() bool { return true }, Metrics: http.NotFoundHandler()})
		if w := get(h, "/metrics", ""); w.Code != http.StatusUnauthorized || w.Header().Get("Content-Language") != want {
			t.Errorf("%+v: %d in %q", rule, w.Code, w.Header().Get("Content-Language"))
		}
	}
}

// TestProbesNeedNoToken, whatever they send, and learn nothing else.
func TestProbesNeedNoToken(t *testing.T) {
	h := New(Config{Token: "secret", Ready: func() bool { return false }, Metrics: http.NotFoundHandler()})
	for _, authorization := range []string{"", "Bearer wrong", "Bearer secret"} {
		for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable} {
			if w := get(h, path, authorization); w.Code != want {
				t.Errorf("%s with %q: %d, want %d", path, authorization, w.Code, want)
			}
		}
	}
	r := httptest.NewRequest(http.MethodPost, "http://10.0.0.1:9090/healthz", nil)
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusUnauthorized {
		t.Errorf("POST /healthz: %d", w.Code)
	}
}

// TestTheReadTokenChangesNothing, and reads all but the memory of the process.
func TestTheReadTokenChangesNothing(t *testing.T) {
	const read = "a-token-that-reads"
	h := New(Config{Token: rightToken, ReadToken: read, Ready: func() bool { return true }, Metrics: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})})
	for _, row := range []struct {
		method, path string
		want         int
	}{
		{http.MethodGet, "/metrics", 200}, {http.MethodHead, "/metrics", 200}, {http.MethodGet, "/nope", 404}, {http.MethodGet, "/admin/api/nope", 404},
		{http.MethodGet, "/debug/pprof/heap", 403}, {http.MethodGet, "/debug/pprof/profile", 403}, {http.MethodPost, "/debug/pprof/symbol", 403},
		{http.MethodPost, "/admin/api/purge", 403}, {http.MethodPut, "/admin/api/endpoints/ip/cache", 403}, {http.MethodDelete, "/admin/api/endpoints/ip/cache", 403},
		{"PURGE", "/metrics", 403}, {"PURGE", "/v1/forecast", 403}, {http.MethodPost, "/admin/api/audit/1/undo", 403}, {http.MethodPost, "/admin/api/reload", 403},
	} {
		for _, header := range []func(*http.Request){
			func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+read) }, func(r *http.Request) { r.SetBasicAuth("prometheus", read) },
		} {
			r := httptest.NewRequest(row.method, "http://10.0.0.1:9090"+row.path, nil)
			header(r)
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code != row.want {
				t.Errorf("%s %s: %d, want %d", row.method, row.path, w.Code, row.want)
			}
		}
	}
	none := New(Config{Token: rightToken, Ready: func() bool { return true }, Metrics: http.NotFoundHandler()})
	for _, authorization := range []string{"Bearer ", "Bearer", "Basic Og==", "Bearer " + read} {
		if w := get(none, "/metrics", authorization); w.Code != http.StatusUnauthorized {
			t.Errorf("%q without such a token: %d", authorization, w.Code)
		}
	}
}

func TestCheckReadToken(t *testing.T) {
	for read, want := range map[string]bool{"": true, "a-token-that-reads": true, rightToken: false, "short": false, "a-token-that\n-reads": false} {
		if err := CheckReadToken(read, rightToken); (err == nil) != want {
			t.Errorf("%q: %v", read, err)
		}
	}
	if CheckReadToken("a-token-that-reads", "") == nil {
		t.Error("accepted without the other one")
	}
}
