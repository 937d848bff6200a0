package catalog

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache"
	"sundry/cache/entry"
	"sundry/upstreams"
)

// counted counts the loads that were answered, and notes what failed.
type counted struct {
	Loader
	answered, failed *atomic.Int64
}

func (c *counted) Load(ctx context.Context, hasCopy bool) (entry.Content, error) {
	content, err := c.Loader.Load(ctx, hasCopy)
	if err == nil {
		c.answered.Add(1)
	} else {
		c.failed.Add(1)
	}
	return content, err
}

// TestAScarceQuotaIsKeptForCallersWithoutACopy: twenty calls a minute, forty entries that
// are requested all the time and fresh for a minute, and a new key every 13 seconds. The new
// ones are always answered; the old entries are refreshed less often, but all of them
// are.
func TestAScarceQuotaIsKeptForCallersWithoutACopy(t *testing.T) {
	const perMinute, old, minutes = 20, 40, 60
	synctest.Test(t, func(t *testing.T) {
		reg := prometheus.NewRegistry()
		fetch, calls, close := scarce(t, reg, perMinute)
		defer close()
		for n := range old { // as they come: no more than callers may have
			fetch(n)
			time.Sleep(time.Minute / perMinute)
		}
		before, oldest := calls.answered.Load(), time.Duration(0)
		unseen := int64(0)
		for second := range minutes * 60 {
			if second%5 == 0 {
				for n := range old {
					hit, err := fetch(n)
					if err != nil {
						t.Fatal(err)
					}
					if second > 600 {
						oldest = max(oldest, hit.Age)
					}
				}
			}
			if second%13 == 7 { // never when calls of a minute ago leave the window
				unseen++
				if hit, err := fetch(1000 + second); err != nil || hit.Tier != cache.Upstream {
					t.Fatalf("second %d: a caller without a copy is refused: %v", second, err)
				}
			}
			time.Sleep(time.Second)
		}
		refreshes := calls.answered.Load() - before - unseen
		if most := int64(minutes) * perMinute * 3 / 4; refreshes < 5*minutes || refreshes > most {
			t.Errorf("%d refreshes in %d minutes, want some, and at most %d", refreshes, minutes, most)
		}
		if oldest > 30*time.Minute { // half of grace
			t.Errorf("an entry was not refreshed for %v", oldest)
		}
		if n := calls.failed.Load(); n > 0 {
			t.Errorf("%d loads were throttled; they are to be withheld before", n)
		}
		if n := withheld(t, reg); n < float64(refreshes) {
			t.Errorf("%v refreshes withheld, %d made", n, refreshes)
		}
		t.Logf("%d refreshes, of %d wanted; the oldest answer was of %v", refreshes, old*minutes, oldest)
	})
}

// scarce is a cache of an endpoint whose source has a quota.
func scarce(t *testing.T, reg *prometheus.Registry, perMinute int) (fetch func(n int) (cache.Answer, error), calls *counted, end func()) {
	t.Helper()
	text := strings.NewReplacer("max: 9", "max: 1000000", "ttl: 1h", "ttl: 1m, grace: 1h, jitter: 0", "computed: {}", fmt.Sprintf("computed: {}\n    rate: %d/1m", perMinute)).Replace(whole)
	env := testEnvironment(t, nil)
	env.Metrics = upstreams.NewMetrics(reg, &env.Hosts, &env.Quotas)
	set, err := loadIn(t, "whole", text, env)
	if err != nil {
		t.Fatal(err)
	}
	c, err := cache.New(cache.Config{Memory: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	e, _ := set.Get("whole")
	space := c.Space(e.Name, e.Policy)
	calls = &counted{answered: new(atomic.Int64), failed: new(atomic.Int64)}
	return func(n int) (cache.Answer, error) {
		in, bad := e.Parse(fmt.Sprintf("n=%d", n+1), Caller{Addr: caller})
		if bad != nil {
			t.Fatal(bad)
		}
		return space.Get(t.Context(), in.Key(), cache.Want{}, &counted{Loader{Input: in}, calls.answered, calls.failed})
	}, calls, func() { _ = c.Close() }
}

// withheld is how many refreshes the source of the endpoint withheld.
func withheld(t *testing.T, reg *prometheus.Registry) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "sundry_upstream_withheld_refreshes_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			if m.GetLabel()[0].GetValue() == "whole" {
				return m.GetCounter().GetValue()
			}
		}
	}
	t.Fatal("no metric")
	return 0
}
