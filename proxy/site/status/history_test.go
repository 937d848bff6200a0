package status

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// bounds of durations in these tests, in seconds.
var bounds = []float64{0.1, 0.2, 0.4}

// service counts requests as the front does.
type service struct {
	mu     sync.Mutex
	totals map[string]Totals
}

func (s *service) count(name string, n uint64, add Counts, bucket int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.totals[name]
	if t.Durations = slices.Clone(t.Durations); t.Durations == nil {
		t.Durations = make([]uint64, len(bounds)+1)
	}
	for range n {
		t.Add(&add)
	}
	t.Durations[bucket] += n
	if s.totals == nil {
		s.totals = map[string]Totals{}
	}
	s.totals[name] = t
}

func (s *service) read() map[string]Totals {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.totals)
}

var (
	hit     = Counts{Requests: 1, Cached: 1, Works: 1}
	miss    = Counts{Requests: 1, Fetched: 1, Works: 1}
	old     = Counts{Requests: 1, Cached: 1, Stale: 1}
	failure = Counts{Requests: 1, Failing: 1}
	mistake = Counts{Requests: 1}
)

// keep observes as the front does.
func keep(t *testing.T, s *service) *History {
	h := NewHistory(bounds, s.read, NewKeeper(nil, slog.Default()))
	h.Observe(time.Now())
	go func() {
		tick := time.NewTicker(ObserveEvery)
		defer tick.Stop()
		for {
			select {
			case <-t.Context().Done():
				return
			case now := <-tick.C:
				h.Observe(now)
			}
		}
	}()
	return h
}

// upToNow is the history with what was counted up to now.
func upToNow(h *History) View {
	h.Observe(time.Now())
	return h.View(time.Now())
}

// known counts the buckets that are known.
func known(buckets []Bucket) (n int) {
	for i := range buckets {
		if buckets[i].Known {
			n++
		}
	}
	return n
}

// sum is what all buckets hold.
func sum(buckets []Bucket) (all Counts) {
	for i := range buckets {
		all.Add(&buckets[i].Counts)
	}
	return all
}

// What was before the start, and what came before it was first observed, is unknown;
// then each minute has its own.
func TestHistoryFollowsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{}
		s.count("ip", 1000, hit, 0) // before the start
		h := keep(t, s)
		start := time.Now()
		if v := h.View(start); known(v.Service.Hour)+known(v.Endpoints["ip"].Day) != 0 {
			t.Errorf("just started, something is known: %+v", v)
		}
		time.Sleep(time.Second)
		s.count("ip", 3, hit, 0)
		s.count("ip", 1, miss, 2)
		time.Sleep(5 * time.Minute)
		s.count("ip", 2, failure, 3)
		s.count("ip", 5, mistake, 0)
		time.Sleep(time.Minute)
		v := upToNow(h)
		hour := v.Endpoints["ip"].Hour
		if n := known(hour); n != 7 || len(hour) != Minutes {
			t.Errorf("%d of %d minutes are known, want those since the start", n, len(hour))
		}
		first := hour[Minutes-7]
		if first.Requests != 4 || first.Works != 4 || first.Cached != 3 {
			t.Errorf("first minute: %+v", first)
		}
		if ratio, ok := first.HitRatio(); !ok || ratio != 0.75 {
			t.Errorf("hit ratio %v, %t", ratio, ok)
		}
		if at := v.HourFrom.Add((Minutes - 7) * Minute); at.After(start) || start.Sub(at) >= Minute {
			t.Errorf("the first minute begins at %v, started at %v", at, start)
		}
		if quiet := hour[Minutes-4]; !quiet.Known || quiet.Requests != 0 || quiet.P95 != 0 {
			t.Errorf("a minute without requests: %+v", quiet)
		}
		if bad := hour[Minutes-2]; bad.Requests != 7 || bad.Failing != 2 || bad.Judged() != 2 {
			t.Errorf("the minute of the failures: %+v", bad)
		}
		if all := sum(v.Endpoints["ip"].Day); all != sum(hour) || all.Requests != 11 {
			t.Errorf("the day holds %+v, the hour %+v", all, sum(hour))
		}
	})
}

// What is older than an hour and a day is forgotten, however long it runs.
func TestHistoryForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{}
		s.count("ip", 1, hit, 0)
		h := keep(t, s)
		s.count("ip", 1, old, 0)
		time.Sleep(2*time.Hour + time.Second)
		v := upToNow(h)
		if got := sum(v.Service.Hour); got.Requests != 0 || known(v.Service.Hour) != Minutes {
			t.Errorf("after two hours the hour holds %+v", got)
		}
		if got := sum(v.Service.Day); got.Stale != 1 {
			t.Errorf("after two hours the day holds %+v", got)
		}
		time.Sleep(23 * time.Hour)
		if got := sum(upToNow(h).Service.Day); got.Requests != 0 {
			t.Errorf("after a day it holds %+v", got)
		}
	})
}

// A machine that slept observes nothing: the time is unknown.
func TestTimeWithoutObservationIsUnknown(t *testing.T) {
	s := &service{}
	s.count("ip", 1, hit, 0)
	h, at := NewHistory(bounds, s.read, NewKeeper(nil, slog.Default())), time.Date(2026, 1, 1, 12, 0, 30, 0, time.UTC)
	h.Observe(at)
	for range 6 {
		at = at.Add(ObserveEvery)
		h.Observe(at)
	}
	at = at.Add(20 * time.Minute)
	s.count("ip", 5, hit, 0)
	h.Observe(at)
	hour := h.View(at).Service.Hour
	if n := known(hour); n != 3 || hour[Minutes-1].Requests != 5 {
		t.Errorf("%d minutes are known, the last one holds %+v", n, hour[Minutes-1])
	}
	for _, back := range []time.Duration{10 * time.Minute, 100 * time.Hour} {
		at = at.Add(-back)
		s.count("ip", 2, miss, 0)
		h.Observe(at)
		if got := h.View(at).Service.Hour[Minutes-1]; got.Fetched != 2 {
			t.Errorf("the clock was set back by %v: %+v", back, got)
		}
	}
}

// A reload keeps the history of what stays; what is gone is gone, and its past requests
// are still those of the service.
func TestEndpointsComeAndGo(t *testing.T) {
	s := &service{}
	s.count("a", 1, hit, 0)
	s.count("b", 1, hit, 0)
	h, at := NewHistory(bounds, s.read, NewKeeper(nil, slog.Default())), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	observe := func() View {
		at = at.Add(ObserveEvery)
		h.Observe(at)
		return h.View(at)
	}
	observe()
	s.count("a", 2, hit, 0)
	s.count("b", 3, miss, 0)
	observe()
	gone := s.totals["b"]
	delete(s.totals, "b")
	s.count("c", 10, hit, 0)
	v := observe()
	if _, ok := v.Endpoints["b"]; ok || len(v.Endpoints) != 2 {
		t.Errorf("endpoints: %v", v.Endpoints)
	}
	if a, all := sum(v.Endpoints["a"].Hour), sum(v.Service.Hour); a.Requests != 2 || all.Requests != 5 {
		t.Errorf("a: %+v, all: %+v", a, all)
	}
	if c := v.Endpoints["c"]; known(c.Hour) != 0 {
		t.Errorf("what c had counted before is there: %+v", sum(c.Hour))
	}
	s.totals["b"] = gone // it comes back, with its counters
	if b := sum(observe().Endpoints["b"].Hour); b.Requests != 0 {
		t.Errorf("b came back with %+v", b)
	}
}

func TestQuantile(t *testing.T) {
	for _, row := range []struct {
		name string
		took durations
		want time.Duration
	}{
		{"nothing", nil, 0},
		{"no requests", durations{0, 0, 0, 0}, 0},
		{"all in the first bucket", durations{100, 0, 0, 0}, 95 * time.Millisecond},
		{"all in the second", durations{0, 100, 0, 0}, 195 * time.Millisecond},
		{"half of the rest", durations{90, 10, 0, 0}, 150 * time.Millisecond},
		{"at a bound", durations{95, 0, 5, 0}, 100 * time.Millisecond},
		{"one", durations{0, 0, 1, 0}, 390 * time.Millisecond},
		{"above all bounds", durations{0, 0, 0, 7}, 400 * time.Millisecond},
	} {
		if got := row.took.quantile(0.95, bounds); got.Round(time.Microsecond) != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

func TestCounts(t *testing.T) {
	all := Counts{}
	if _, ok := all.HitRatio(); ok {
		t.Error("a hit ratio of nothing")
	}
	for _, c := range []Counts{hit, miss, old, failure, mistake} {
		all.Add(&c)
	}
	if all.Requests != 5 || all.Judged() != 4 || all.since(&hit) != (Counts{4, 1, 1, 1, 1, 1}) {
		t.Errorf("%+v", all)
	}
}
