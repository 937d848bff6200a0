package proxy

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/upstreams"
)

// gated is an upstream that answers when the gate opens; ids up to ten pass by.
type gated struct {
	*fake
	gate chan struct{}
}

func newGated(t *testing.T) *gated {
	t.Helper()
	g := &gated{&fake{}, make(chan struct{})}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.URL.Query().Get("id")) > 1 {
			select {
			case <-g.gate:
			case <-r.Context().Done():
				return
			}
		}
		_, _ = io.WriteString(w, `{"v":"x"}`)
	}))
	t.Cleanup(g.Close)
	return g
}

// patiently gives the sources of a catalog file all the time of a test.
func patiently(text string) string { return strings.ReplaceAll(text, "timeout: 2s", "timeout: 20s") }

// named is the endpoint simple under another name.
func named(name, text string) string {
	return strings.Replace(text, "name: simple", "name: "+name, 1)
}

// crowd asks for so many keys that nothing is known of, and counts who is shed.
func (f *front) crowd(path string, n int) (shed *atomic.Int64, wait func()) {
	shed = &atomic.Int64{}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			a := f.get(fmt.Sprintf(path, 100+i))
			if a.StatusCode == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "" && strings.Contains(a.body, `"type":"overloaded"`) {
				shed.Add(1)
			}
		})
	}
	return shed, wg.Wait
}

// TestHitsAreNeverShed: misses of one endpoint, three times as many as may wait,
// cost no hit, and no other endpoint its misses.
func TestHitsAreNeverShed(t *testing.T) {
	up, other := newGated(t), newFake(t, `{"v":"other"}`)
	f := newFront(t, map[string]string{"simple": patiently(simple("ttl: 1h", up.fake)), "other": named("other", simple("ttl: 1h", other))},
		func(c *Config, _ *upstreams.Environment) { c.Limits = Limits{InFlight: 40} })
	f.get("/api/simple?id=1").want(t, http.StatusOK)
	shed, wait := f.crowd("/api/simple?id=%d", 120)
	eventually(t, "who finds no place is shed", func() bool { return shed.Load() == 100 })
	if n, _ := f.server.load.count(); n != 20 {
		t.Errorf("%d wait for one endpoint, want half of 40", n)
	}
	for range 40 {
		f.get("/api/simple?id=1").want(t, http.StatusOK)
	}
	f.get("/api/other?id=7").want(t, http.StatusOK, "other")
	close(up.gate)
	wait()
	eventually(t, "all places are free", func() bool { n, _ := f.server.load.count(); return n == 0 })
	f.get("/api/simple?id=500").want(t, http.StatusOK)
}

// TestWhoMustWaitForARefreshGetsTheStaleCopy where there is no place to wait.
func TestWhoMustWaitForARefreshGetsTheStaleCopy(t *testing.T) {
	up := newGated(t)
	f := newFront(t, map[string]string{"simple": patiently(simple("ttl: 1ns, grace: 0s, stale_if_error: 1h, soft_timeout: 20s", up.fake))},
		func(c *Config, _ *upstreams.Environment) { c.Limits = Limits{InFlight: 2} })
	f.get("/api/simple?id=1").want(t, http.StatusOK)
	_, wait := f.crowd("/api/simple?id=%d", 1)
	eventually(t, "the place is taken", func() bool { n, _ := f.server.load.count(); return n == 1 })
	a := f.get("/api/simple?id=1")
	a.want(t, http.StatusOK, "x")
	a.header(t, "Cache-Status", "fwd=stale")
	close(up.gate)
	wait()
}

func TestAdmission(t *testing.T) {
	type entry struct{ name, places string } // of endpoints by letters: how many get in, one after the other
	rows := map[string]struct {
		limit int64
		share float64
		in    []entry
	}{
		"one endpoint takes its share":             {40, 0.5, []entry{{"a", "20"}}},
		"the next half of what is left":            {40, 0.5, []entry{{"a", "20"}, {"b", "10"}, {"c", "5"}}},
		"all of it, where that is the share":       {40, 1, []entry{{"a", "40"}, {"b", "0"}}},
		"one place is for whoever comes":           {1, 0.5, []entry{{"a", "1"}, {"b", "0"}}},
		"a small share of few places is one place": {4, 0.01, []entry{{"a", "1"}, {"b", "1"}, {"c", "1"}, {"d", "1"}, {"e", "0"}}},
	}
	for what, row := range rows {
		t.Run(what, func(t *testing.T) {
			var a admission
			a.use(Limits{InFlight: row.limit, Share: row.share})
			for _, e := range row.in {
				p, n := &place{}, 0
				for range 100 {
					if a.enter(p, time.Time{}) {
						n++
					}
				}
				if got := fmt.Sprint(n); got != e.places {
					t.Errorf("%s: %s got in, want %s", e.name, got, e.places)
				}
			}
		})
	}
}
