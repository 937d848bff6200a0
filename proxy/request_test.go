package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sundry/upstreams"
)

// broken is a connection that cannot be written to.
type broken struct{ http.ResponseWriter }

func (broken) WriteHeader(int) { panic("nothing can be written") }

// TestPanicsReleaseTheirPlace: a request that panics is not counted as in flight for
// ever, which would use up the limit.
func TestPanicsReleaseTheirPlace(t *testing.T) {
	f := newFront(t, map[string]string{"simple": simple("ttl: 1m", newFake(t, `{"v":"one"}`))}, func(c *Config, _ *upstreams.Environment) { c.Limits.InFlight = 2 })
	for range 5 {
		func() {
			defer func() { _ = recover() }() // net/http does
			f.server.ServeHTTP(broken{httptest.NewRecorder()}, httptest.NewRequest(http.MethodGet, "/api/simple", http.NoBody))
		}()
	}
	if n, _ := f.server.admission.count(); n != 0 {
		t.Errorf("%d requests are still in flight", n)
	}
	f.get("/api/simple").want(t, http.StatusOK, "one")
}

// torn writes half of what it is given and panics.
type torn struct{ http.ResponseWriter }

func (t torn) Write(b []byte) (int, error) {
	_, _ = t.ResponseWriter.Write(b[:len(b)/2])
	panic("in the middle")
}

func TestPanics(t *testing.T) {
	up := newFake(t, `{"v":"`+strings.Repeat("long text ", 500)+`"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", up)})
	f.get("/api/simple").want(t, http.StatusOK)

	middle := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.server.ServeHTTP(torn{w}, r) }))
	defer middle.Close()
	for _, path := range []string{"/api/simple", "/api/simple?type=text", "/api/simple?id=0", "/api/nope"} {
		resp, err := middle.Client().Get(middle.URL + path)
		if err != nil {
			continue // nothing of it was sent yet
		}
		b, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err == nil || strings.Contains(string(b), "internal") {
			t.Errorf("%s: a torn answer looks whole: %d %q", path, resp.StatusCode, b)
		}
	}

	f.server.current.Store(&snapshot{routes: map[string]*route{"simple": {endpoint: f.server.current.Load().routes["simple"].endpoint, metrics: f.server.unrouted}}})
	a := f.get("/api/simple", "Accept-Encoding", "gzip")
	a.want(t, http.StatusInternalServerError, `"type":"internal"`)
	a.header(t, "Cache-Control", "no-store")
	if n, _ := f.server.admission.count(); n != 0 {
		t.Errorf("%d requests are still counted", n)
	}
}
