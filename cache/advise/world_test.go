package advise

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"sundry/cache"
)

// world is a course of things that nobody has told the advice of: when the content of each
// key changes, and when it is asked for.
type world struct {
	name    string
	keys    int
	ttl     time.Duration
	grace   time.Duration
	observe time.Duration
	changes func(r *rand.Rand, key int, until time.Duration) []time.Duration
	asks    func(r *rand.Rand, key int, until time.Duration) []time.Duration
}

type ask struct {
	at  time.Duration
	key int
}

var epoch = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// poisson are the times of a process at random.
func poisson(mean time.Duration) func(*rand.Rand, int, time.Duration) []time.Duration {
	return func(r *rand.Rand, _ int, until time.Duration) []time.Duration {
		var out []time.Duration
		for at := wait(r, mean); at < until; at += wait(r, mean) {
			out = append(out, at)
		}
		return out
	}
}

func wait(r *rand.Rand, mean time.Duration) time.Duration {
	return time.Duration(r.ExpFloat64() * float64(mean))
}

// every are times at a fixed interval.
func every(step time.Duration) func(*rand.Rand, int, time.Duration) []time.Duration {
	return func(_ *rand.Rand, _ int, until time.Duration) []time.Duration {
		var out []time.Duration
		for at := step / 3; at < until; at += step {
			out = append(out, at)
		}
		return out
	}
}

// byDay keeps what lies between two hours of the day.
func byDay(times func(*rand.Rand, int, time.Duration) []time.Duration, from, to int) func(*rand.Rand, int, time.Duration) []time.Duration {
	return func(r *rand.Rand, key int, until time.Duration) []time.Duration {
		return slices.DeleteFunc(times(r, key, until), func(at time.Duration) bool {
			hour := int(at/time.Hour) % 24
			return hour < from || hour >= to
		})
	}
}

// changing changes its rate once.
func changing(when, before, after time.Duration) func(*rand.Rand, int, time.Duration) []time.Duration {
	return func(r *rand.Rand, key int, until time.Duration) []time.Duration {
		out := poisson(before)(r, key, when)
		for _, at := range poisson(after)(r, key, until-when) {
			out = append(out, when+at)
		}
		return out
	}
}

func worlds() []world {
	const h, m, d = time.Hour, time.Minute, 24 * time.Hour
	hot := func(r *rand.Rand, key int, until time.Duration) []time.Duration {
		return poisson(time.Duration(10+key*key*20)*time.Second)(r, key, until)
	}
	return []world{
		{"a minute", 1, m, 0, 7 * d, poisson(m), poisson(20 * time.Second)},
		{"an hour", 1, 10 * m, 0, 14 * d, poisson(h), poisson(m)},
		{"a day", 1, h, 0, 28 * d, poisson(d), poisson(3 * m)},
		{"a week", 1, 6 * h, 0, 56 * d, poisson(7 * d), poisson(10 * m)},
		{"hourly", 1, 10 * m, 0, 14 * d, every(h), poisson(m)},
		{"daily", 1, h, 0, 28 * d, every(d), poisson(3 * m)},
		{"by day", 1, 20 * m, 0, 28 * d, byDay(poisson(h), 8, 20), poisson(2 * m)},
		{"far above", 1, 2 * h, 0, 28 * d, poisson(20 * m), poisson(m)},
		{"far below", 1, m, 0, 7 * d, poisson(5 * h), poisson(20 * time.Second)},
		{"grace", 1, 10 * m, 10 * m, 14 * d, poisson(h), poisson(m)},
		{"weekdays", 1, 20 * m, 0, 28 * d, func(r *rand.Rand, key int, until time.Duration) []time.Duration {
			return slices.DeleteFunc(poisson(2*h)(r, key, until), func(at time.Duration) bool { return int(at/d)%7 > 4 })
		}, poisson(2 * m)},
		{"bursts of requests", 1, 10 * m, 0, 14 * d, poisson(h), func(r *rand.Rand, key int, until time.Duration) []time.Duration {
			var out []time.Duration
			for _, at := range poisson(30*m)(r, key, until) {
				for range 20 {
					at += wait(r, 5*time.Second)
					out = append(out, at)
				}
			}
			return out
		}},
		{"clusters of changes", 1, 10 * m, 0, 14 * d, func(r *rand.Rand, key int, until time.Duration) []time.Duration {
			var out []time.Duration
			for _, at := range poisson(8*h)(r, key, until) {
				for range 1 + r.IntN(8) {
					at += wait(r, 5*m)
					out = append(out, at)
				}
			}
			slices.Sort(out)
			return out
		}, poisson(m)},
		{"faster since the middle", 1, 20 * m, 0, 14 * d, changing(7*d, 6*h, h), poisson(2 * m)},
		{"slower since the middle", 1, 20 * m, 0, 28 * d, changing(14*d, h, 6*h), poisson(2 * m)},
		{"hot keys change fast", 20, 5 * m, 0, 7 * d, func(r *rand.Rand, key int, until time.Duration) []time.Duration {
			return poisson(time.Duration(key*key+1)*10*m)(r, key, until)
		}, hot},
		{"hot keys change slowly", 20, 5 * m, 0, 7 * d, func(r *rand.Rand, key int, until time.Duration) []time.Duration {
			return poisson(10*h/time.Duration(key+1))(r, key, until)
		}, hot},
	}
}

// run plays a rule: what callers got, and, if seen is not nil, what is noted of it.
func (w *world) run(asks []ask, changes [][]time.Duration, from, to time.Duration, p *cache.Policy, seen *Seen) (older, calls float64) {
	r := rand.New(rand.NewPCG(7, 7))
	copies := make([]*cache.Meta, w.keys)
	served, old, filled := 0, 0, 0
	first, _ := slices.BinarySearchFunc(asks, from, func(a ask, at time.Duration) int { return cmp.Compare(a.at, at) })
	for _, a := range asks[first:] {
		if a.at >= to {
			break
		}
		now, state, changed := epoch.Add(a.at), cache.Absent, false
		if m := copies[a.key]; m != nil {
			state, _ = p.State(m, now)
			changed = version(changes[a.key], m.Created.Sub(epoch)) != version(changes[a.key], a.at)
		}
		if served++; changed && (state == cache.Fresh || state == cache.Eager || state == cache.Grace) {
			old++
		}
		if seen != nil {
			seen.Request(uint32(a.key), now, 1, p.TTL)
		}
		if state == cache.Fresh {
			continue
		}
		if filled++; seen != nil {
			age := time.Duration(0)
			if m := copies[a.key]; m != nil {
				age = now.Sub(m.Created)
			}
			seen.Refresh(uint32(a.key), now, age, found(copies[a.key] == nil, changed))
		}
		copies[a.key] = &cache.Meta{Created: now, Spread: uint8(r.Uint32())}
	}
	return float64(old) / float64(served), float64(filled) / (to - from).Hours()
}

func found(first, changed bool) Outcome {
	switch {
	case first:
		return First
	case changed:
		return Changed
	}
	return Unchanged
}

// version of content at a time.
func version(changes []time.Duration, at time.Duration) int {
	n, _ := slices.BinarySearch(changes, at+1)
	return n
}

// play makes the course of a world.
func (w *world) play(seed uint64, until time.Duration) (asks []ask, changes [][]time.Duration) {
	r := rand.New(rand.NewPCG(seed, 1))
	for key := range w.keys {
		changes = append(changes, w.changes(r, key, until))
		for _, at := range w.asks(r, key, until) {
			asks = append(asks, ask{at, key})
		}
	}
	slices.SortFunc(asks, func(a, b ask) int { return int(a.at - b.at) })
	return asks, changes
}

func (w *world) policy(ttl time.Duration) *cache.Policy {
	return &cache.Policy{TTL: ttl, Grace: w.grace, Jitter: cache.DefaultJitter, Eager: cache.DefaultEager}
}

// share counts what was right.
type share struct{ right, all int }

func (s *share) add(right bool) {
	s.all++
	if right {
		s.right++
	}
}

func (s *share) atLeast(t *testing.T, least float64, what string) {
	t.Helper()
	t.Logf("%s: %d of %d", what, s.right, s.all)
	if float64(s.right) < least*float64(s.all) {
		t.Errorf("%s: %d of %d", what, s.right, s.all)
	}
}

// seeds of which each world is played.
const seeds = 2

// observed is what is known of a world after its time of observation.
func (w *world) observed(seed uint64) (seen *Past, asks []ask, changes [][]time.Duration) {
	asks, changes = w.play(seed, 3*w.observe)
	s := &Seen{Most: 1 << 20}
	w.run(asks, changes, 0, w.observe, w.policy(w.ttl), s)
	return s.Past(), asks, changes
}

// TestPredictions: beside brute force over the days after, of five TTLs each.
func TestPredictions(t *testing.T) {
	var rightOld, rightCalls, bands share
	for _, w := range worlds() {
		for seed := range uint64(seeds) {
			seen, asks, changes := w.observed(seed)
			okOld, okCalls, okBands := true, true, true
			for _, factor := range []float64{0.25, 0.5, 1, 2, 4} {
				p := w.policy(time.Duration(float64(w.ttl) * factor))
				old, calls := w.run(asks, changes, w.observe, 3*w.observe, p, nil)
				got := seen.Rule(p)
				within := got.OlderLow <= old+0.001 && old <= got.OlderHigh+0.001
				good := math.Abs(got.Older-old) <= max(0.01, old/4) || got.AtMost && within
				okOld, okBands, okCalls = okOld && good, okBands && within, okCalls && math.Abs(got.Calls-calls) <= calls/10
				if !good || !within {
					t.Logf("%s, TTL × %g: old %.4f (%.4f to %.4f), is %.4f", w.name, factor, got.Older, got.OlderLow, got.OlderHigh, old)
				}
			}
			rightOld.add(okOld)
			rightCalls.add(okCalls)
			bands.add(okBands)
		}
	}
	rightOld.atLeast(t, 0.85, "old share right")
	rightCalls.atLeast(t, 0.95, "calls right")
	bands.atLeast(t, 0.90, "bands hold")
}

// TestAdvice: the advised TTL keeps the target in the days after, with what chance adds.
func TestAdvice(t *testing.T) {
	const target = 0.02
	var within share
	for _, w := range worlds() {
		for seed := range uint64(seeds) {
			seen, asks, changes := w.observed(seed)
			a := seen.Advise(w.policy(w.ttl), Ladder(w.ttl), Target{Old: target})
			if a.TTL == 0 {
				t.Logf("%s: %s", w.name, a.Reason.EN)
				continue
			}
			old, _ := w.run(asks, changes, w.observe, 3*w.observe, w.policy(a.TTL), nil)
			within.add(old <= 1.5*target)
		}
	}
	within.atLeast(t, 0.95, "within the target")
	if within.all < len(worlds())*seeds*3/4 {
		t.Errorf("%d advices of %d", within.all, len(worlds())*seeds)
	}
}

// TestClosedLoop: the controller alone, from the present TTL on, judged by the two weeks
// after.
func TestClosedLoop(t *testing.T) {
	const target, half, step = 0.02, 14 * 24 * time.Hour, 6 * time.Hour
	var within share
	for _, w := range worlds() {
		if w.keys > 1 || w.ttl < 10*time.Minute || w.ttl > time.Hour {
			continue // slow
		}
		asks, changes := w.play(1, 2*half)
		p, set, seen := w.policy(w.ttl), time.Duration(0), &Seen{Most: 1 << 20}
		for at := step; at <= half; at += step {
			w.run(asks, changes, at-step, at, p, seen)
			ttl, why := Step(seen.Past(), p, Target{Old: target}, epoch.Add(set), epoch.Add(at))
			if ttl == p.TTL {
				continue
			}
			if old, _ := w.run(asks, changes, set, at, p, nil); ttl > p.TTL && old > 2*target {
				t.Errorf("%s: %v to %v while %.3f were old: %s", w.name, p.TTL, ttl, old, why)
			}
			p, set, seen = w.policy(ttl), at, &Seen{Most: 1 << 20}
		}
		old, _ := w.run(asks, changes, half, 2*half, p, nil)
		within.add(old <= 1.5*target)
		t.Logf("%s: TTL %v, old %.4f", w.name, p.TTL.Round(time.Second), old)
	}
	within.atLeast(t, 0.9, "within the target")
}
