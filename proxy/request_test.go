package proxy

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
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

	f.server.current.Store(&generation{routes: map[string]*route{"simple": {endpoint: f.server.current.Load().routes["simple"].endpoint, metrics: f.server.unrouted}}})
	a := f.get("/api/simple", "Accept-Encoding", "gzip")
	a.want(t, http.StatusInternalServerError, `"type":"internal"`)
	a.header(t, "Cache-Control", "no-store")
	if n, _ := f.server.admission.count(); n != 0 {
		t.Errorf("%d requests are still counted", n)
	}
}

// TestARequestIsUsedAgainOnlyAfterItsFills: refreshes go on behind the answers, with
// the input of the request that started them. The race detector watches.
func TestARequestIsUsedAgainOnlyAfterItsFills(t *testing.T) {
	echo := &fake{Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"v":"%s."}`, r.URL.Query().Get("id"))
	}))}
	t.Cleanup(echo.Close)
	f := newFront(t, map[string]string{"simple": simple("ttl: 5ms, jitter: 0, grace: 1h, stale_if_error: 1h", echo)})
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 200 {
				id := strconv.Itoa(1 + (worker+i)%7)
				a, err := f.try(t.Context(), http.MethodGet, "/api/simple?type=text&id="+id, "X-Request-Id", "of-"+id)
				if err != nil || a.StatusCode != http.StatusOK || a.body != id+".\n" || a.Header.Get("X-Request-Id") != "of-"+id {
					t.Errorf("%s: %v %q", id, err, a.body)
				}
			}
		})
	}
	wg.Wait()
}

// TestAHitAllocatesLittle besides the map of net/http: one text and one array for the
// values in it.
func TestAHitAllocatesLittle(t *testing.T) {
	h := benchServer(t, Limits{Rate: 1e9, Burst: 1e9})
	w := &discard{}
	plain := testing.AllocsPerRun(1000, func() { w.h = make(http.Header, 12) })
	for _, path := range []string{"/api/bench", "/api/bench?type=ten", "/api/bench?callback=f"} {
		hit(t, h, path)
		r := httptest.NewRequest(http.MethodGet, path, nil)
		if n := testing.AllocsPerRun(1000, func() {
			w.h = make(http.Header, 12)
			h.ServeHTTP(w, r)
		}); n > plain+3 { // a pool may be empty
			t.Errorf("%s: %v allocations, and %v for the map", path, n-plain, plain)
		}
	}
}
