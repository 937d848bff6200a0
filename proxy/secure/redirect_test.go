package secure

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestRedirects(t *testing.T) {
	t.Parallel()
	names := func(host string) bool { return host == "a.example" || host == "::1" }
	for request, want := range map[string]string{
		"GET /x/%2F?a=%20b&c HTTP/1.1\r\nHost: a.example":               "301 https://a.example:8443/x/%2F?a=%20b&c",
		"HEAD // HTTP/1.1\r\nHost: A.EXAMPLE.:80":                       "301 https://a.example:8443//",
		"POST /api HTTP/1.1\r\nHost: a.example:80\r\nContent-Length: 0": "308 https://a.example:8443/api",
		"GET http://a.example/x?y HTTP/1.1\r\nHost: b.example":          "301 https://a.example:8443/x?y",
		"OPTIONS * HTTP/1.1\r\nHost: a.example":                         "308 https://a.example:8443/",
		"GET / HTTP/1.1\r\nHost: [::1]:80":                              "301 https://[::1]:8443/",
		"GET //b.example/ HTTP/1.1\r\nHost: a.example":                  "301 https://a.example:8443//b.example/",
		"GET / HTTP/1.1\r\nHost: b.example":                             "421 ",
		"GET / HTTP/1.1\r\nHost: a.example@b.example":                   "421 ",
		"GET / HTTP/1.1\r\nHost: a.example:80@b.example":                "301 https://a.example:8443/",
		"GET http://b.example/ HTTP/1.1\r\nHost: a.example":             "421 ",
		"GET / HTTP/1.0": "421 ",
		"CONNECT b.example:443 HTTP/1.1\r\nHost: a.example":                "421 ",
		"GET / HTTP/1.1\r\nHost: a.example\r\nX-Forwarded-Host: b.example": "301 https://a.example:8443/",
	} {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(request + "\r\n\r\n")))
		if err != nil {
			t.Errorf("%q: %v", request, err)
			continue
		}
		w := httptest.NewRecorder()
		Redirect(names, "8443").ServeHTTP(w, r)
		if got := w.Result().Status[:4] + w.Header().Get("Location"); got != want {
			t.Errorf("%q: %s, want %s", request, got, want)
		}
	}
	w := httptest.NewRecorder()
	Redirect(names, "443").ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://a.example/", http.NoBody))
	if got := w.Header().Get("Location"); got != "https://a.example/" {
		t.Errorf("the usual port: %s", got)
	}
}

// TestChallengesReadNoOtherFiles: the token in a path becomes the name of a file.
func TestChallengesReadNoOtherFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, err := NewAuthority(ACME{Hosts: []string{"a.example"}, Cache: dir})
	if err != nil {
		t.Fatal(err)
	}
	h := a.Challenges(http.NotFoundHandler())
	for path, host := range map[string]string{
		"../a.example": "a.example", "": "a.example", "a%2Fb": "a.example", strings.Repeat("a", 300): "a.example", "unknown": "a.example", "token": "b.example",
	} {
		r := httptest.NewRequest(http.MethodGet, "http://"+host+"/.well-known/acme-challenge/"+path, http.NoBody)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusNotFound && w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), dir) {
			t.Errorf("%s of %s: %d %s", path, host, w.Code, w.Body)
		}
	}
}
