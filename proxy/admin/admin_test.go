package admin

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestCheckAddress(t *testing.T) {
	for addr, want := range map[string]bool{
		"127.0.0.1:9090": true, "127.8.9.1:0": true, "[::1]:9090": true, "localhost:9090": true,
		":9090": false, "0.0.0.0:9090": false, "[::]:9090": false, "192.168.1.1:9090": false, "example.org:9090": false, "9090": false,
	} {
		if err := CheckAddress(addr, ""); (err == nil) != want {
			t.Errorf("%s without a token: %v", addr, err)
		}
		if err := CheckAddress(addr, "token"); err != nil {
			t.Errorf("%s with a token: %v", addr, err)
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
	h := handler("secret")
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap", "/healthz", "/readyz", "/nope"} {
		for _, wrong := range []string{"", "secret", "Bearer", "Bearer ", "Bearer wrong", "bearer secret", "Basic secret", "Bearer secret "} {
			if w := get(h, path, wrong); w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") == "" || strings.Contains(w.Body.String(), "secret") {
				t.Errorf("%s with %q: %d", path, wrong, w.Code)
			}
		}
	}
	if w := get(h, "/metrics", "Bearer secret"); w.Code != http.StatusOK || w.Body.String() != "metrics" {
		t.Errorf("with the token: %d %s", w.Code, w.Body)
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

func TestStrangersPagesAreRefused(t *testing.T) {
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

func TestBrowsersBearTheTokenAsPassword(t *testing.T) {
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
