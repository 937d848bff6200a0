package cache

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache/entry"
)

// notes is an observer that writes down what it is told.
type notes struct {
	mu       sync.Mutex
	fills    []Filled
	requests uint32 // by their weight
	keys     map[uint64]bool
	next     uint32
}

func (n *notes) Filled(f Filled) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fills = append(n.fills, f)
}

func (n *notes) Requested(_ string, key uint64, weight uint32, _ time.Time) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.requests += weight
	if n.keys == nil {
		n.keys = map[uint64]bool{}
	}
	n.keys[key] = true
	return max(1, n.next)
}

// TestObserverIsToldOfRefreshes: what is the first of its key, the same, or another, and
// what failed; not of negative answers. So is who is told of fills alone.
func TestObserverIsToldOfRefreshes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen, l := &notes{}, &script{text: "a"}
		s := newCache(t, Config{Observer: seen}).Space("story", usual())
		s.cache.OnFill(seen.Filled)
		var told []string
		s.cache.OnFill(func(f Filled) { told = append(told, f.Name+" "+f.Outcome()) })
		start := time.Now()
		fetch := func(key string) {
			_, _ = s.Get(t.Context(), key, Want{}, l)
			time.Sleep(time.Hour + 2*time.Minute) // past stale-if-error
		}
		mustFetch(t, s, "k", l)
		fetch("k") // a hit
		fetch("k")
		l.set(func(s *script) { s.text = "b" })
		fetch("k")
		l.set(func(s *script) { s.err = errDown })
		fetch("k")
		l.set(func(s *script) {
			s.err, s.make = nil, func(int64) (entry.Content, error) { return entry.Content{Negative: "none"}, nil }
		})
		fetch("other")
		if got := strings.Join(told, ", "); got != "k first, k unchanged, k changed, k failed" {
			t.Errorf("told of %s", got)
		}
		if len(seen.fills) != 4 || seen.requests != 6 || len(seen.keys) != 2 {
			t.Fatalf("%+v, %d requests", seen.fills, seen.requests)
		}
		for result, want := range map[prometheus.Counter]float64{s.metrics.firstFill: 2, s.metrics.refreshSame: 1, s.metrics.refreshNew: 1, s.metrics.refreshFailed: 1} {
			if got := testutil.ToFloat64(result); got != want {
				t.Errorf("%v: %g", result.Desc(), got)
			}
		}
		first, same, other, failed := seen.fills[0], seen.fills[1], seen.fills[2], seen.fills[3]
		if !first.Before.IsZero() || first.Space != "story" || first.Source != "first" || !first.At.Equal(start) {
			t.Errorf("first: %+v", first)
		}
		if same.Changed || !same.Before.Equal(first.At) || same.BeforeSource != "first" || same.Key != first.Key || !same.At.After(same.Before) {
			t.Errorf("the same: %+v", same)
		}
		if !other.Changed || !other.Before.Equal(same.At) || first.Digest != same.Digest || other.Digest == same.Digest {
			t.Errorf("another: %+v", other)
		}
		if !errors.Is(failed.Failed, errDown) || failed.Key != first.Key || !failed.At.After(other.At) || failed.Source != "" {
			t.Errorf("a failure: %+v", failed)
		}
	})
}

// TestObserverIsToldOfASampleOfHits, which stand for all, and nothing is allocated.
func TestObserverIsToldOfASampleOfHits(t *testing.T) {
	seen := &notes{next: 64}
	s := newCache(t, Config{Observer: seen}).Space("story", usual())
	mustFetch(t, s, "k", &script{})
	mustFetch(t, s, "k", &script{})
	var answer Answer
	const n = 100_000
	now, before := time.Now(), seen.requests
	if allocated := testing.AllocsPerRun(n, func() {
		if !s.GetHot("k", Want{}, now, &answer) {
			t.Error(errors.New("not ready"))
		}
		s.Served("k", &answer)
	}); allocated > 0 {
		t.Errorf("%.1f allocations", allocated)
	}
	if told := seen.requests - before; told < n*8/10 || told > n*12/10 {
		t.Errorf("%d hits seem %d", n, told)
	}
}

// BenchmarkHotHit is what the lane does, with and without an observer that wants the
// sample of a busy space.
func BenchmarkHotHit(b *testing.B) {
	for name, observer := range map[string]Observer{"unobserved": nil, "observed": &notes{next: 1 << 12}} {
		b.Run(name, func(b *testing.B) {
			s := newCache(b, Config{Observer: observer}).Space("story", usual())
			if _, err := s.Get(b.Context(), "k", Want{}, &script{}); err != nil {
				b.Fatal(err)
			}
			var answer Answer
			now := time.Now()
			for !s.GetHot("k", Want{}, now, &answer) {
				s.cache.near.Wait()
			}
			b.ReportAllocs()
			for b.Loop() {
				s.GetHot("k", Want{}, now, &answer)
				s.Served("k", &answer)
			}
		})
	}
}
