package advise

import (
	"math/rand/v2"
	"testing"
	"time"
)

// full has seen as many events as are kept of an endpoint: a day and a half of one busy key,
// or of many.
func full(keys int) *Seen {
	s, r, at := &Seen{}, rand.New(rand.NewPCG(1, 1)), epoch
	last := map[uint32]time.Time{}
	for len(s.events) < DefaultEvents-2 {
		at = at.Add(time.Duration(r.ExpFloat64() * float64(4*time.Second)))
		key := uint32(r.IntN(keys))
		s.Request(key, at, 1, time.Minute)
		switch before, ok := last[key]; {
		case !ok:
			s.Refresh(key, at, 0, First)
			last[key] = at
		case at.Sub(before) > time.Minute:
			s.Refresh(key, at, at.Sub(before), Unchanged+Outcome(r.IntN(6)/5))
			last[key] = at
		}
	}
	return s
}

// BenchmarkAdvise: what an advice takes, of 32,768 events.
func BenchmarkAdvise(b *testing.B) {
	for name, keys := range map[string]int{"one key": 1, "100 keys": 100, "10000 keys": 10_000} {
		s := full(keys)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.Past().Advise(rule(time.Minute), Ladder(time.Minute), Target{Old: 0.02})
			}
		})
		b.Run(name+", past alone", func(b *testing.B) {
			for b.Loop() {
				s.Past()
			}
		})
	}
}
