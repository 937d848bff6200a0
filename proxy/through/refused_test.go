package through

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestWhatIsNotPassedOn: methods that would show a caller what the origin is sent, or connect it anywhere, and paths that lead
// out of the address of the API.
func TestWhatIsNotPassedOn(t *testing.T) {
	s := newStand(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Method, " ", r.RequestURI) }, func(s *Settings) {
		s.Request = func(h http.Header) { h.Set("X-Api-Key", "secret") }
	})
	for _, row := range []struct {
		method, path string
		want         int
	}{
		{"TRACE", "/a", http.StatusNotImplemented}, {"CONNECT", "/a", http.StatusNotImplemented},
		{"GET", "/../a", http.StatusBadRequest}, {"GET", "/a/..", http.StatusBadRequest}, {"POST", "/a/./../b", http.StatusBadRequest},
		{"GET", "/a/%2e%2E/b", http.StatusBadRequest}, {"GET", "/a/.%2e", http.StatusBadRequest}, {"GET", "/%2E%2E", http.StatusBadRequest}, {"GET", "/..?x", http.StatusBadRequest},
		{"GET", "/a%2f../b", http.StatusBadRequest}, {"GET", "/a%2F%2e%2e%2fb", http.StatusBadRequest}, {"GET", `/a%5C..%5cb`, http.StatusBadRequest},
		{"GET", "/..;/b", http.StatusBadRequest}, {"GET", "/a/..%3bx=1/b", http.StatusBadRequest}, {"GET", "/a/.;/b", http.StatusBadRequest}, // to servlets
		{"GET", "/..a/b../...", http.StatusOK}, {"GET", "/a?x=/../", http.StatusOK}, {"GET", "/a%2fb//c;d=1", http.StatusOK}, {"M-SEARCH", "/a", http.StatusOK},
		{"POST", "/a/./b", http.StatusOK}, {"GET", "/%2E", http.StatusOK},
	} {
		r, err := http.NewRequestWithContext(t.Context(), row.method, s.front.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.URL.Opaque = strings.TrimPrefix(s.front.URL, "http:") + row.path
		resp, err := s.client.Do(r)
		if err != nil {
			t.Errorf("%s %s: %v", row.method, row.path, err)
			continue
		}
		b, _ := io.ReadAll(resp.Body)
		if resp.Body.Close(); resp.StatusCode != row.want {
			t.Errorf("%s %s: %s %s", row.method, row.path, resp.Status, b)
		}
	}
	s.wantCalls(6)
}

// TestPathsInTheirOneForm reach the origin, below the path of the API in any spelling.
func TestPathsInTheirOneForm(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.RequestURI) }))
	t.Cleanup(origin.Close)
	f := newFront(t, origin.Listener, true, false, false)
	f.handler.Prefix = "/api/a-test"
	for asked, want := range map[string]string{
		"/api/a-test":           "/",
		"/api/a-test/x?":        "/x?",
		"/api/a-test/x%2Fy":     "/x%2Fy",
		"/api/a-test/%78%7e":    "/x~",
		"/api/a-test/x%2fy|[z]": "/x%2Fy%7C[z]",
		"/api/a-test/天%2Fy":     "/%E5%A4%A9%2Fy",
		"/api/a%2Dtest/x%2Fy":   "/x%2Fy",
		"/%61pi%2Fa-test%2Fx":   "/%2Fx",
	} {
		if got := victim(t, f.addr, "x", asked); got != fmt.Sprintln(200, want, nil) {
			t.Errorf("%s: %s", asked, got)
		}
	}
}
