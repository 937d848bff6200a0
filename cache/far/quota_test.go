package far

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

type bound = struct {
	Calls int
	Per   time.Duration
}

// takeQuota takes from a quota of one bound.
func takeQuota(t *testing.T, tier *Tier, name string, calls int, per time.Duration) (time.Duration, error) {
	wait, _, err := tier.TakeQuota(t.Context(), name, []bound{{calls, per}})
	return wait, err
}

// TestAQuotaKeepsWithinAllItsBounds: those of a refresh are narrower, and what is counted
// is the same.
func TestAQuotaKeepsWithinAllItsBounds(t *testing.T) {
	server, one := started(t, func(c *Config) { c.Timeout = 2 * time.Second })
	two := open(t, server.URL(), func(c *Config) { c.Timeout = 2 * time.Second })
	answer, refresh := []bound{{8, time.Hour}}, []bound{{8, time.Hour}, {6, time.Hour}, {8, time.Hour}}
	for i, step := range []struct {
		tier   *Tier
		bounds []bound
		waits  bool
		made   int
	}{
		{one, refresh, false, 1}, {two, refresh, false, 2}, {one, answer, false, 3}, {two, answer, false, 4},
		{one, refresh, false, 5}, {two, refresh, false, 6}, {one, refresh, true, 6}, {two, refresh, true, 6},
		{two, answer, false, 7}, {one, answer, false, 8}, {one, answer, true, 8}, {two, refresh, true, 8},
	} {
		wait, made, err := step.tier.TakeQuota(t.Context(), "q", step.bounds)
		if err != nil || (wait > 0) != step.waits || wait > time.Hour || made != step.made {
			t.Errorf("step %d: wait %v, %d made, %v; want waits %v, %d made", i, wait, made, err, step.waits, step.made)
		}
	}
	const short = 100 * time.Millisecond // all of these have left it before the last
	waittest.Until(t, "calls within another length of time", func() bool {
		_, made, err := one.TakeQuota(t.Context(), "short", []bound{{1, short}, {8, 8 * short}})
		return err == nil && made == 5
	})
	if n := server.Must("LLEN sundry:quota:short"); n == ":0\r\n" || len(n) != 4 {
		t.Errorf("the list has %q calls, of which 8 are enough", n)
	}
}

// TestAQuotaIsOfTheWholeFleet: however many ask at the same time, no more calls are
// granted than there are, and the rest are told how long to wait.
func TestAQuotaIsOfTheWholeFleet(t *testing.T) {
	server, one := started(t, func(c *Config) { c.Timeout = 2 * time.Second })
	two := open(t, server.URL(), func(c *Config) { c.Timeout = 2 * time.Second })
	var granted atomic.Int64
	var wg sync.WaitGroup
	for _, tier := range []*Tier{one, two} {
		for range 20 {
			wg.Go(func() {
				wait, err := takeQuota(t, tier, "api.example.org 7/1h0m0s", 7, time.Hour)
				switch {
				case err != nil:
					t.Error(err)
				case wait == 0:
					granted.Add(1)
				case wait < 59*time.Minute || wait > time.Hour:
					t.Errorf("wait %v", wait)
				}
			})
		}
	}
	wg.Wait()
	if n := granted.Load(); n != 7 {
		t.Errorf("%d calls of 7 were granted", n)
	}
	if wait, err := takeQuota(t, two, "another", 1, time.Hour); wait != 0 || err != nil {
		t.Errorf("another quota: %v %v", wait, err)
	}
	if ttl := server.Must("PTTL sundry:quota:another"); strings.HasPrefix(ttl, ":-") {
		t.Errorf("it never expires: %s", ttl)
	}
}

// TestAQuotaIsRestored: when the oldest of its calls has left the window.
func TestAQuotaIsRestored(t *testing.T) {
	tier := open(t, redistest.Start(t).URL(), func(c *Config) { c.Timeout = 2 * time.Second })
	const per = 200 * time.Millisecond
	last := time.Time{}
	for range 3 {
		waittest.Until(t, "a call", func() bool {
			wait, err := takeQuota(t, tier, "short", 1, per)
			return wait == 0 && err == nil
		})
		if since := time.Since(last); since < per-20*time.Millisecond {
			t.Errorf("%v after the last", since)
		}
		last = time.Now()
	}
}

func TestAQuotaWithoutRedisIsAnErrorSoon(t *testing.T) {
	t.Parallel()
	server, tier := started(t)
	server.Freeze()
	defer server.Thaw()
	start := time.Now()
	for range 20 {
		if _, err := takeQuota(t, tier, "q", 1, time.Hour); err == nil {
			t.Error("a frozen Redis grants")
		}
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("twenty calls took %v: the breaker did not open", took)
	}
}

func TestAQuotaInACluster(t *testing.T) {
	t.Parallel()
	nodes := redistest.StartCluster(t, 2)
	tier := open(t, "redis+cluster://"+nodes[0].Addr, func(c *Config) { c.Timeout = 2 * time.Second })
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} { // of all slots
		for i, free := range []bool{true, true, false} {
			if wait, err := takeQuota(t, tier, name, 2, time.Hour); err != nil || (wait == 0) != free {
				t.Errorf("%s, call %d: %v %v", name, i, wait, err)
			}
		}
	}
}
