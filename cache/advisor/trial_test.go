package advisor

import (
	"math/rand/v2"
	"time"

	"sundry/cache"
)

// shanghai is where the tests' publications are.
func shanghai() *time.Location {
	zone, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		panic(err)
	}
	return zone
}

// monday0 is when the tests begin.
func monday0() time.Time { return time.Date(2026, 3, 2, 0, 0, 0, 0, shanghai()) }

// source makes the instants at which a content changes, from a time on.
type source func(chance *rand.Rand, from, to time.Time) []time.Time

// every is a source that changes at a period, at a phase of local time.
func every(period, phase time.Duration) source {
	return func(_ *rand.Rand, from, to time.Time) (at []time.Time) {
		p := Prediction{Period: period, Phase: phase, Zone: shanghai()}
		for next := p.publication(from); next.Before(to); next = p.publication(next) {
			at = append(at, next)
		}
		return at
	}
}

// atRandom is a source that changes at random.
func atRandom(mean time.Duration) source {
	return func(chance *rand.Rand, from, to time.Time) (at []time.Time) {
		for next := from; ; {
			next = next.Add(time.Duration(chance.ExpFloat64() * float64(mean)))
			if !next.Before(to) {
				return at
			}
			at = append(at, next)
		}
	}
}

// late is a source whose changes come later, each by up to so much.
func late(s source, most time.Duration) source {
	return func(chance *rand.Rand, from, to time.Time) []time.Time {
		at := s(chance, from, to)
		for i := range at {
			at[i] = at[i].Add(time.Duration(chance.Float64() * float64(most)))
		}
		return at
	}
}

// trial is a cache of one key in simulated time, request by request, under the real
// policy. A fill takes no time.
type trial struct {
	policy  cache.Policy
	rate    float64 // requests per second
	key     uint64
	changes []time.Time
	tell    told // nil: nobody
	// everything: it is told of requests, waits and calls too.
	everything bool

	entry                       cache.Meta
	version, seen               int
	requests, calls, waits, old float64
}

// told is who is told of waits and calls too.
type told interface {
	cache.Observer
	Waited(space string)
	Called(space string)
}

func (tr *trial) run(chance *rand.Rand, from, to time.Time) {
	for at := tr.next(chance, from); at.Before(to); at = tr.next(chance, at) {
		tr.request(chance, at)
	}
}

func (tr *trial) next(chance *rand.Rand, at time.Time) time.Time {
	return at.Add(time.Duration(chance.ExpFloat64() / tr.rate * 1e9))
}

func (tr *trial) request(chance *rand.Rand, at time.Time) {
	tr.requests++
	if tr.everything {
		tr.tell.Requested("s", tr.key, 1, at)
	}
	for tr.version < len(tr.changes) && !tr.changes[tr.version].After(at) {
		tr.version++
	}
	if tr.entry.Created.IsZero() {
		tr.wait()
		tr.fill(chance, at)
		return
	}
	state, _ := tr.policy.State(&tr.entry, at)
	if state >= cache.Stale {
		tr.wait()
	} else if tr.seen != tr.version {
		tr.old++
	}
	if state != cache.Fresh {
		tr.fill(chance, at)
	}
}

func (tr *trial) wait() {
	if tr.waits++; tr.everything {
		tr.tell.Waited("s")
	}
}

func (tr *trial) fill(chance *rand.Rand, at time.Time) {
	if tr.calls++; tr.everything {
		tr.tell.Called("s")
	}
	before := tr.entry
	tr.entry = cache.Meta{Source: "one", Created: at, Modified: at, Spread: uint8(chance.Uint32())}
	if tr.seen == tr.version && !before.Created.IsZero() {
		tr.entry.Modified = before.Modified
	}
	if tr.tell != nil {
		tr.tell.Filled(cache.Filled{
			Space: "s", Key: tr.key, Source: "one", At: at, Before: before.Created, BeforeSource: before.Source, Changed: tr.seen != tr.version,
		})
	}
	tr.seen = tr.version
}

// skip runs a trial that is only observed: it leaps over the hits, which tell nothing.
func (tr *trial) skip(chance *rand.Rand, from, to time.Time) {
	for at := tr.next(chance, from); at.Before(to); {
		tr.request(chance, at)
		_, left := tr.policy.State(&tr.entry, at)
		due := at.Add(time.Duration(float64(left) * (1 - tr.policy.Eager)))
		at = tr.next(chance, due)
	}
}

// usual is a rule with everything that endpoints have by default.
func usual(ttl, grace time.Duration) cache.Policy {
	return cache.Policy{TTL: ttl, Grace: grace, StaleIfError: time.Hour, Jitter: cache.DefaultJitter, Eager: cache.DefaultEager, Poll: cache.DefaultPoll}
}
