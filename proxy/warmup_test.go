package proxy

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache/far/redistest"
	"sundry/cache/policy"
	"sundry/metrics/panics"
	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
)

// builtinWarm are the endpoints that Warm fills by default: what is tested here replaces
// all of them, so that no real source is asked.
var builtinWarm = []string{"60s", "dailynews", "dailywp", "lishi", "yiyan"}

// warmFront has the endpoints that are warmed, with that cache rule and sources of the
// test's own.
func warmFront(t *testing.T, rule string, sourceOf func(name string) *fake, options ...option) *front {
	t.Helper()
	files := map[string]string{}
	for _, name := range builtinWarm {
		files[name] = strings.Replace(simple("warm: true, "+rule, sourceOf(name)), "name: simple", "name: "+name, 1)
	}
	f := newFront(t, files, options...)
	var warm []string
	for _, e := range f.server.Catalog().Endpoints {
		if e.Warm {
			warm = append(warm, e.Name)
		}
	}
	if slices.Sort(warm); !slices.Equal(warm, builtinWarm) {
		t.Fatalf("these would be warmed: %q", warm)
	}
	return f
}

// warming runs Warm until the end of the test.
func (f *front) warming() {
	ctx, stop := context.WithCancel(f.t.Context())
	var done sync.WaitGroup
	done.Go(func() { f.server.Warm(ctx) })
	f.t.Cleanup(func() { stop(); done.Wait() })
}

// TestASlowSourceDelaysNoOtherEndpoint: each source replies only when all were asked.
func TestASlowSourceDelaysNoOtherEndpoint(t *testing.T) {
	var asked atomic.Int64
	all := make(chan struct{})
	meeting := func(string) *fake {
		up := &fake{}
		up.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1) == int64(len(builtinWarm)) {
				close(all)
			}
			select {
			case <-all:
				_, _ = io.WriteString(w, `{"v":"warm"}`)
			case <-r.Context().Done():
			}
		}))
		t.Cleanup(up.Close)
		return up
	}
	f := warmFront(t, "ttl: 1h", meeting)
	f.warming()
	waittest.Until(t, "all sources to be asked at once", func() bool { return asked.Load() >= int64(len(builtinWarm)) })
	for _, name := range builtinWarm {
		waittest.Until(t, name, func() bool {
			return strings.Contains(f.get("/api/"+name).Header.Get("Cache-Status"), "hit")
		})
	}
	if n := asked.Load(); n != int64(len(builtinWarm)) {
		t.Errorf("%d calls", n)
	}
}

// TestALateEditionIsPolledByWarming, without a request; and once it is there, no more.
func TestALateEditionIsPolledByWarming(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	up := newFake(t, `{"v":"old","date":"2020-01-01"}`)
	f := warmFront(t, `until: "00:00 UTC", poll: 1s, edition: .date, grace: 1h, stale_if_error: 1h`, func(string) *fake { return up })
	f.warming()
	waittest.Until(t, "a poll of each", func() bool { return up.calls.Load() >= 2*int64(len(builtinWarm)) })
	up.body.Store(`{"v":"new","date":"2999-01-01"}`)
	for _, name := range builtinWarm {
		waittest.Until(t, "the edition of "+name, func() bool { return strings.Contains(f.get("/api/"+name).body, "new") })
	}
}

// TestWarmingIsBounded: at most so many fills run at once, and each endpoint gets its turn.
func TestWarmingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		routes := map[string]*route{}
		for i := range 3 * maxWarming {
			routes[fmt.Sprint(i)] = &route{endpoint: &catalog.Endpoint{Name: fmt.Sprint(i), Warm: true, Policy: policy.Policy{TTL: 24 * time.Hour}}}
		}
		routes["cold"] = &route{endpoint: &catalog.Endpoint{Name: "cold"}}
		var mu sync.Mutex
		running, most, filled := 0, 0, map[string]int{}
		w := warming{
			routes: func() map[string]*route { return routes }, running: map[string]bool{}, next: map[string]time.Time{},
			warm: func(_ context.Context, rt *route) time.Time {
				mu.Lock()
				running++
				most = max(most, running)
				filled[rt.endpoint.Name]++
				mu.Unlock()
				time.Sleep(10 * time.Second)
				mu.Lock()
				defer mu.Unlock()
				running--
				return time.Now().Add(24 * time.Hour)
			},
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		w.run(ctx)
		if running != 0 || most != maxWarming || len(filled) != 3*maxWarming || filled["cold"] != 0 {
			t.Errorf("%d still run, at most %d did, %d of %d were filled", running, most, len(filled), 3*maxWarming)
		}
		for name, n := range filled {
			if n != 1 {
				t.Errorf("%s was looked at %d times", name, n)
			}
		}
	})
}

// TestWarmingSurvivesPanics: of an endpoint, which has its turn again, and of the loop.
func TestWarmingSurvivesPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		caught := panics.New(prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
		routes := map[string]*route{}
		for i := range 3 * maxWarming {
			routes[fmt.Sprint(i)] = &route{endpoint: &catalog.Endpoint{Name: fmt.Sprint(i), Warm: true, Policy: policy.Policy{TTL: 24 * time.Hour}}}
		}
		var mu sync.Mutex
		filled, fails, broken := map[string]int{}, true, 0
		w := warming{
			routes: func() map[string]*route {
				if broken++; broken == 2 {
					panic("it failed")
				}
				return routes
			},
			running: map[string]bool{}, next: map[string]time.Time{}, panics: caught,
			warm: func(_ context.Context, rt *route) time.Time {
				mu.Lock()
				defer mu.Unlock()
				filled[rt.endpoint.Name]++
				if fails {
					panic("it failed")
				}
				return time.Now().Add(24 * time.Hour)
			},
		}
		ctx, stop := context.WithTimeout(t.Context(), 3*warmPause)
		defer stop()
		time.AfterFunc(warmPause/2, func() { mu.Lock(); defer mu.Unlock(); fails = false })
		caught.Loop(ctx, panics.WarmUp, w.run)()
		for name := range routes {
			if n := filled[name]; n < 2 || n > 4 {
				t.Errorf("%s was filled %d times", name, n)
			}
		}
		if len(w.running) != 0 {
			t.Errorf("still running: %v", w.running)
		}
	})
}

// TestWhenAnEndpointIsLookedAtAgain.
func TestWhenAnEndpointIsLookedAtAgain(t *testing.T) {
	until, err := policy.ParseCalendar("06:00 UTC")
	if err != nil {
		t.Fatal(err)
	}
	at := func(clock string) time.Time {
		at, err := time.Parse("15:04:05", clock)
		if err != nil {
			t.Fatal(err)
		}
		return at.AddDate(2026, 0, 0)
	}
	daily, pool, brief := policy.Policy{Until: until, Poll: 5 * time.Minute}, policy.Policy{TTL: 12 * time.Hour}, policy.Policy{TTL: time.Minute}
	for name, row := range map[string]struct {
		policy         policy.Policy
		due, now, next string
	}{
		"nothing is due":                          {daily, "06:00:03", "03:00:00", "03:10:00"},
		"a minute before a publication":           {daily, "06:00:03", "05:55:00", "05:59:00"},
		"at that look, for the publication":       {daily, "06:00:03", "05:59:01", "06:00:03"},
		"a late edition":                          {daily, "06:05:00", "06:00:04", "06:05:00"},
		"a late edition whose refresh has failed": {daily, "06:00:03", "06:00:04", "06:05:04"},
		"no copy":                                {daily, "00:00:00", "03:00:00", "03:05:00"},
		"a pool that is soon due":                {pool, "03:05:00", "03:00:00", "03:05:00"},
		"a pool that could not be refreshed":     {pool, "02:59:00", "03:00:00", "03:10:00"},
		"a TTL so short that callers refresh it": {brief, "03:00:50", "03:00:00", "03:10:00"},
	} {
		if next := nextLook(&row.policy, at(row.due), at(row.now)); !next.Equal(at(row.next)) {
			t.Errorf("%s: %v", name, next)
		}
	}
}

// TestAFleetWarmsOnce: three instances that are not asked for anything fill and poll as
// often as one.
func TestAFleetWarmsOnce(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	up := newFake(t, `{"v":"old","date":"2020-01-01"}`)
	const poll = 5 * time.Second
	fleet := make([]*front, 3)
	for i := range fleet {
		fleet[i] = warmFront(t, `until: "00:00 UTC", poll: 5s, edition: .date, grace: 1h, stale_if_error: 1h`, func(string) *fake { return up }, withRedis(t, server))
	}
	start := time.Now()
	for _, f := range fleet {
		f.warming()
	}
	waittest.Until(t, "a first poll of each", func() bool { return up.calls.Load() >= 2*int64(len(builtinWarm)) })
	rounds := int64(time.Since(start)/(poll*9/10)) + 1
	if n := up.calls.Load(); n > rounds*int64(len(builtinWarm)) {
		t.Errorf("%d calls for %d endpoints in %d rounds", n, len(builtinWarm), rounds)
	}
}
