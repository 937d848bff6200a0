package cache

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

func benchHit(b *testing.B, content entry.Content) {
	c := newCache(b, Config{Memory: 64 << 20})
	p := usual()
	p.TTL = time.Hour
	s := c.Space("bench", p)
	l := &script{make: func(int64) (entry.Content, error) { return content, nil }}
	ctx := b.Context()
	if _, err := s.Get(ctx, "bench:key", Want{}, l); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if h, err := s.Get(ctx, "bench:key", Want{}, l); err != nil || h.Tier != Near {
			b.Fatal(h, err)
		}
	}
}

func BenchmarkHit(b *testing.B)          { benchHit(b, textContent(strings.Repeat("x", 1<<10))) }
func BenchmarkHit20KB(b *testing.B)      { benchHit(b, long(20<<10)) }
func BenchmarkHitPool10(b *testing.B)    { benchHit(b, pool(10)) }
func BenchmarkHitPool10000(b *testing.B) { benchHit(b, pool(10_000)) }

func long(n int) entry.Content {
	c := textContent(strings.Repeat("x", n))
	c.Forms[0][0].ETag = `"long"`
	return c
}

// TestHitCostDoesNotGrowWithThePool counts allocations; the benchmark above
// shows the time.
func TestHitCostDoesNotGrowWithThePool(t *testing.T) {
	cost := func(n int) float64 {
		s := newCache(t, Config{Memory: 64 << 20}).Space("bench", policy.Policy{TTL: time.Hour, FillTimeout: time.Minute})
		l := &script{make: func(int64) (entry.Content, error) { return pool(n), nil }}
		mustFetch(t, s, "k", l)
		return testing.AllocsPerRun(1000, func() { mustFetch(t, s, "k", l) })
	}
	small, large := cost(10), cost(10_000)
	if large > small+0.5 {
		t.Errorf("a hit in a pool of 10 allocates %.1f times, of 10,000 %.1f times", small, large)
	}
}

// constant is a loader that takes no time: what a fill costs without it.
type constant struct{ content entry.Content }

func (l constant) Load(context.Context, bool) (entry.Content, error) { return l.content, nil }

func BenchmarkFill(b *testing.B) {
	p := classed(policy.Keyed)
	s := newCache(b, Config{Memory: 64 << 20}).Space("bench", p)
	l := constant{textContent(strings.Repeat("x", 1<<10))}
	ctx := b.Context()
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if h, err := s.Get(ctx, "bench:"+strconv.Itoa(n), Want{}, l); err != nil || h.Tier != Upstream {
			b.Fatal(h, err)
		}
	}
}

// everyKey is a Redis that has the same entry for every key.
type everyKey struct {
	*fakeRemote
	value []byte
}

func (r everyKey) Look(context.Context, string, time.Duration) entry.Found {
	return entry.Found{Value: r.value, Created: time.Now(), Answered: true}
}

func BenchmarkFarHit(b *testing.B) {
	c := textContent(strings.Repeat("x", 1<<10))
	raw := rawOf(b, c, &entry.Meta{Created: time.Now(), Modified: time.Now()})
	p := usual()
	p.TTL, p.Class = time.Hour, policy.Keyed
	s := newCache(b, Config{Memory: 64 << 20, Far: everyKey{newFakeRemote(), raw}}).Space("bench", p)
	ctx := b.Context()
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if h, err := s.Get(ctx, "bench:"+strconv.Itoa(n), Want{}, constant{}); err != nil || h.Tier != Far {
			b.Fatal(h, err)
		}
	}
}
