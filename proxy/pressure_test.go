package proxy

import (
	"fmt"
	"math"
	"net/http"
	runtimemetrics "runtime/metrics"
	"testing"
	"time"

	"sundry/upstreams"
)

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
					p.feel(phase.delay, now, now.Add(50*time.Millisecond))
					now = now.Add(50 * time.Millisecond)
				}
				if math.Abs(p.share-phase.share) > 0.001 {
					t.Errorf("after phase %d: %.2f are shed, want %.2f", i, p.share, phase.share)
				}
			}
		})
	}
	p := pressure{share: 0.5}
	if p.feel(time.Minute, time.Time{}, time.Now()); p.share >= 0.5 {
		t.Error("what is switched off sheds on")
	}
}

func TestQuantileOfWaits(t *testing.T) {
	buckets := []float64{math.Inf(-1), 0, 0.001, 0.010, 0.030, math.Inf(1)}
	for want, counts := range map[time.Duration][2][]uint64{
		0:                     {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}},
		time.Millisecond:      {{0, 0, 0, 0, 0}, {0, 90, 5, 5, 0}},
		10 * time.Millisecond: {{0, 900, 0, 0, 0}, {0, 990, 4, 6, 0}}, // what was before does not count
		30 * time.Millisecond: {{0, 0, 0, 0, 0}, {0, 90, 0, 0, 10}},
	} {
		h := &runtimemetrics.Float64Histogram{Counts: counts[1], Buckets: buckets}
		if got := quantileSince(counts[0], h); got != want {
			t.Errorf("%v: %v, want %v", counts, got, want)
		}
	}
}

// TestDelaysAreThoseOfTheRuntime: the name that is read exists, and waits are
// counted under it.
func TestDelaysAreThoseOfTheRuntime(t *testing.T) {
	var d delays
	if d.read(); d.sample[0].Value.Kind() != runtimemetrics.KindFloat64Histogram {
		t.Fatal("the runtime has no such histogram")
	}
	if n := testing.AllocsPerRun(100, func() { d.read() }); n > 1 {
		t.Errorf("a look takes %.0f allocations", n)
	}
}

// TestPressureShedsMissesAndNoHits: while work waits too long, most of who must
// wait is shed, hits never, and all are served again afterwards.
func TestPressureShedsMissesAndNoHits(t *testing.T) {
	up := newFake(t, `{"v":"x"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", up)}, func(c *Config, _ *upstreams.Environment) { c.Limits = Limits{Delay: 20 * time.Millisecond} })
	f.get("/api/simple?id=1").want(t, http.StatusOK)
	a := &f.server.load
	press := func(share float64, delay time.Duration) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.pressure.share, a.looked, a.delay = share, time.Time{}, func() time.Duration { return delay }
	}
	press(pressureMost, time.Second)
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
