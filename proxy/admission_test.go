package proxy

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	runtimemetrics "runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/cache"
	"sundry/cache/clients"
	"sundry/upstreams"
	"sundry/upstreams/lib/waittest"
)

// gated is an upstream that answers once the gate opens; ids below ten are answered at once.
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

// patiently gives the sources of a catalog file a timeout that a test does not reach.
func patiently(text string) string { return strings.ReplaceAll(text, "timeout: 2s", "timeout: 20s") }

// named returns the endpoint simple under another name.
func named(name, text string) string {
	return strings.Replace(text, "name: simple", "name: "+name, 1)
}

// crowd requests n keys that are not cached, and counts the requests that are shed.
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

// TestHitsAreNeverShed: three times as many misses of one endpoint as may wait
// shed no hit, and no miss of another endpoint.
func TestHitsAreNeverShed(t *testing.T) {
	up, other := newGated(t), newFake(t, `{"v":"other"}`)
	f := newFront(t, map[string]string{"simple": patiently(simple("ttl: 1h", up.fake)), "other": named("other", simple("ttl: 1h", other))},
		ofMany, func(c *Config, _ *upstreams.Environment) { c.Limits = Limits{InFlight: 40} })
	f.get("/api/simple?id=1").want(t, http.StatusOK)
	shed, wait := f.crowd("/api/simple?id=%d", 120)
	waittest.Until(t, "who finds no place is shed", func() bool { return shed.Load() == 100 })
	if n, _ := f.server.admission.count(); n != 20 {
		t.Errorf("%d wait for one endpoint, want half of 40", n)
	}
	for range 40 {
		f.get("/api/simple?id=1").want(t, http.StatusOK)
	}
	f.get("/api/other?id=7").want(t, http.StatusOK, "other")
	close(up.gate)
	wait()
	waittest.Until(t, "all places are free", func() bool { n, _ := f.server.admission.count(); return n == 0 })
	f.get("/api/simple?id=500").want(t, http.StatusOK)
}

// TestAShedRefreshIsAnsweredWithTheStaleCopy: a stale copy is served as fallback
// where no more requests may wait.
func TestAShedRefreshIsAnsweredWithTheStaleCopy(t *testing.T) {
	up := newGated(t)
	f := newFront(t, map[string]string{"simple": patiently(simple("ttl: 1ns, grace: 0s, stale_if_error: 1h, soft_timeout: 20s", up.fake))},
		func(c *Config, _ *upstreams.Environment) { c.Limits = Limits{InFlight: 2} })
	f.get("/api/simple?id=1").want(t, http.StatusOK)
	_, wait := f.crowd("/api/simple?id=%d", 1)
	waittest.Until(t, "the place is taken", func() bool { n, _ := f.server.admission.count(); return n == 1 })
	a := f.get("/api/simple?id=1")
	a.want(t, http.StatusOK, "x")
	a.header(t, "Cache-Status", "fwd=stale")
	close(up.gate)
	wait()
}

func TestAdmission(t *testing.T) {
	type entry struct{ name, places string } // endpoints by letter: how many of each are admitted, in this order
	rows := map[string]struct {
		limit int64
		share float64
		in    []entry
	}{
		"one endpoint takes its share":             {40, 0.5, []entry{{"a", "20"}}},
		"the next half of what is left":            {40, 0.5, []entry{{"a", "20"}, {"b", "10"}, {"c", "5"}}},
		"all of it, where that is the share":       {40, 1, []entry{{"a", "40"}, {"b", "0"}}},
		"one place is for the first":               {1, 0.5, []entry{{"a", "1"}, {"b", "0"}}},
		"a small share of few places is one place": {4, 0.01, []entry{{"a", "1"}, {"b", "1"}, {"c", "1"}, {"d", "1"}, {"e", "0"}}},
	}
	for what, row := range rows {
		t.Run(what, func(t *testing.T) {
			var a admission
			a.setLimits(Limits{InFlight: row.limit, Share: row.share})
			for _, e := range row.in {
				p, n := &endpointLoad{}, 0
				for range 100 {
					if a.enter(p, clients.Nobody, time.Time{}) {
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

func TestPressure(t *testing.T) {
	const ok, long = 5 * time.Millisecond, 50 * time.Millisecond
	type phase struct {
		delay time.Duration
		looks int // 50 ms apart
		share float64
	}
	rows := map[string]struct {
		target time.Duration
		phases []phase
	}{
		"no delay":                 {20 * time.Millisecond, []phase{{ok, 100, 0}}},
		"as long as may be":        {20 * time.Millisecond, []phase{{20 * time.Millisecond, 100, 0}}},
		"a burst":                  {20 * time.Millisecond, []phase{{long, 9, 0}, {ok, 1, 0}, {long, 9, 0}}},
		"load that stays":          {20 * time.Millisecond, []phase{{long, 10, 0.05}, {long, 5, 0.3}, {long, 100, 0.95}}},
		"less once it has helped":  {20 * time.Millisecond, []phase{{long, 19, 0.5}, {ok, 2, 0.3}, {ok, 10, 0}}},
		"it begins anew after one": {20 * time.Millisecond, []phase{{long, 19, 0.5}, {ok, 1, 0.4}, {long, 9, 0.4}, {long, 1, 0.45}}},
		"switched off":             {0, []phase{{time.Minute, 100, 0}}},
	}
	for what, row := range rows {
		t.Run(what, func(t *testing.T) {
			p, now := pressure{target: row.target}, time.Unix(1000, 0)
			for i, phase := range row.phases {
				for range phase.looks {
					p.observe(phase.delay, now, now.Add(50*time.Millisecond))
					now = now.Add(50 * time.Millisecond)
				}
				if math.Abs(p.share-phase.share) > 0.001 {
					t.Errorf("after phase %d: %.2f are shed, want %.2f", i, p.share, phase.share)
				}
			}
		})
	}
	p := pressure{share: 0.5}
	if p.observe(time.Minute, time.Time{}, time.Now()); p.share >= 0.5 {
		t.Error("switched off, it still sheds")
	}
}

// TestABurstAfterIdleTimeIsNotShed: what is measured first, or after a time without
// requests that have to wait, is not known to have lasted.
func TestABurstAfterIdleTimeIsNotShed(t *testing.T) {
	delay := time.Duration(0)
	a := admission{delay: func() time.Duration { return delay }}
	a.setLimits(Limits{InFlight: 10, Share: 0.5, QueueDelay: 20 * time.Millisecond})
	now := time.Unix(1000, 0)
	delay = time.Second
	if a.underPressure(now); a.pressure.share > 0 {
		t.Errorf("at the start %.2f are shed", a.pressure.share)
	}
	delay, now = 0, now.Add(time.Second)
	a.underPressure(now)
	delay, now = time.Second, now.Add(time.Minute)
	if a.underPressure(now); a.pressure.share > 0 {
		t.Errorf("after a minute without requests %.2f are shed", a.pressure.share)
	}
	for range pressureOnset / pressureInterval {
		now = now.Add(pressureInterval)
		a.underPressure(now)
	}
	if a.pressure.share == 0 {
		t.Error("a delay that stays sheds nothing")
	}
}

func TestQuantileOfWaits(t *testing.T) {
	buckets := []float64{math.Inf(-1), 0, 0.001, 0.010, 0.030, math.Inf(1)}
	for want, counts := range map[time.Duration][2][]uint64{
		0:                     {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}},
		time.Millisecond:      {{0, 0, 0, 0, 0}, {0, 90, 5, 5, 0}},
		10 * time.Millisecond: {{0, 900, 0, 0, 0}, {0, 990, 4, 6, 0}}, // counts from before are not included
		30 * time.Millisecond: {{0, 0, 0, 0, 0}, {0, 90, 0, 0, 10}},
	} {
		h := &runtimemetrics.Float64Histogram{Counts: counts[1], Buckets: buckets}
		if got := quantileSince(counts[0], h); got != want {
			t.Errorf("%v: %v, want %v", counts, got, want)
		}
	}
}

// TestSchedLatencies: the runtime has a metric of that name.
func TestSchedLatencies(t *testing.T) {
	var l schedLatencies
	if l.read(); l.sample[0].Value.Kind() != runtimemetrics.KindFloat64Histogram {
		t.Fatal("the runtime has no such histogram")
	}
	if n := testing.AllocsPerRun(100, func() { l.read() }); n > 1 {
		t.Errorf("a measurement takes %.0f allocations", n)
	}
}

// TestPressureShedsMissesAndNoHits: while the queue delay is too long, most
// requests that have to wait are shed, hits never; afterwards all are served again.
func TestPressureShedsMissesAndNoHits(t *testing.T) {
	up := newFake(t, `{"v":"x"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", up)}, func(c *Config, _ *upstreams.Environment) { c.Limits = Limits{QueueDelay: 20 * time.Millisecond} })
	f.get("/api/simple?id=1").want(t, http.StatusOK)
	a := &f.server.admission
	press := func(share float64, delay time.Duration) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.pressure.share, a.readAt, a.delay = share, time.Time{}, func() time.Duration { return delay }
	}
	press(pressureMaxShare, time.Second)
	shed := 0
	for id := range 100 {
		if r := f.get(fmt.Sprintf("/api/simple?id=%d", 100+id)); r.StatusCode == http.StatusServiceUnavailable {
			r.header(t, "Retry-After", "1")
			shed++
		}
		f.get("/api/simple?id=1").want(t, http.StatusOK)
	}
	if shed < 50 {
		t.Errorf("%d of 100 misses were shed", shed)
	}
	press(0, 0)
	f.get("/api/simple?id=999").want(t, http.StatusOK)
}

// TestFillsBeyondTheirBoundAreRefused: with a bound of two fills one endpoint may
// have one; what is cached is served meanwhile.
func TestFillsBeyondTheirBoundAreRefused(t *testing.T) {
	store, err := cache.New(cache.Config{Memory: 32 << 20, Fills: 2})
	if err != nil {
		t.Fatal(err)
	}
	up := newHanging(t)
	quick := newFake(t, `{"v":"one"}`)
	other := strings.Replace(simple("ttl: 1h", quick), "name: simple", "name: other", 1)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", &fake{Server: up.Server}), "other": other}, ofMany, func(c *Config, _ *upstreams.Environment) { c.Cache = store })
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, leave := context.WithCancel(t.Context())
	var caller sync.WaitGroup
	caller.Go(func() { _, _ = f.try(ctx, http.MethodGet, "/api/simple?id=1") }) // leaves
	waittest.Until(t, "a call upstream", func() bool { return up.open.Load() == 1 })
	a := f.get("/api/simple?id=2")
	a.want(t, http.StatusServiceUnavailable, `"type":"overloaded"`)
	a.header(t, "Retry-After", "1")
	f.get("/api/other").want(t, http.StatusOK, "one")
	leave()
	caller.Wait()
}
