package whatif

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Load is a number of keys, each of which is requested at random at a rate.
type Load struct {
	Keys float64
	Rate float64 // requests per second of each
}

// Pattern is requests of which no log is left, but how they were spread over the keys. A
// replay makes up requests that are spread alike, at random, the same ones each time.
type Pattern struct {
	Loads []Load
	// Span is the time that is simulated, at most; the first fifth of it fills the cache
	// only.
	Span time.Duration
	// Events bounds the requests that are made up. Several for a key that is requested
	// often are one with a weight; if that does not do, less than Span is simulated. 0
	// means a million.
	Events int
	// Time bounds how long that takes: on a slow machine, less than Span is simulated.
	// 0: no bound.
	Time time.Duration
}

const (
	defaultEvents = 1_000_000
	// perTTL is how many requests for a key are made up, at least, in the shortest TTL
	// of the rules before one stands for several.
	perTTL = 50
	// maxWeight bounds for how many one stands.
	maxWeight = 1 << 20
	// warmShare of the span fills the cache.
	warmShare = 5
	// lookEvery is after how many requests a replay looks whether it is to end.
	lookEvery = 1 << 10
)

// ErrNoLoads means that a pattern has no requests.
var ErrNoLoads = errors.New("no requests are known")

// Replay tries the rules of cfg with requests of this pattern, which begin at cfg.From.
// Its error is that of ctx, when that ends before, ErrMemory or ErrNoLoads.
func (p *Pattern) Replay(ctx context.Context, cfg Config) (*Simulation, error) {
	kinds, perSecond := p.kinds(cfg)
	if perSecond <= 0 {
		return nil, ErrNoLoads
	}
	events := p.Events
	if events == 0 {
		events = defaultEvents
	}
	span, begin, began := min(p.Span.Seconds(), float64(events)/perSecond), cfg.From, time.Now()
	sim, random := New(cfg), rand.New(rand.NewPCG(1, 2))
	for n, at := 0, 0.0; ; n++ {
		at += random.ExpFloat64() / perSecond
		if n%lookEvery == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if took := time.Since(began); p.Time > 0 && n > 0 {
				span = min(span, at*float64(p.Time)/float64(took))
			}
			sim.cfg.From = begin.Add(time.Duration(span / warmShare * 1e9))
		}
		if at >= span {
			return sim, nil
		}
		req := pick(kinds, random)
		req.At = begin.Add(time.Duration(at * 1e9))
		if err := sim.Add(req); err != nil {
			return nil, err
		}
	}
}

// kind is a load whose requests are made up alike.
type kind struct {
	upTo   float64 // of all made-up requests, the share up to and with its own
	first  uint64  // key
	keys   uint64
	weight int
}

// kinds are the loads, and how many requests a second are made up.
func (p *Pattern) kinds(cfg Config) (kinds []kind, perSecond float64) {
	shortest := math.Inf(1)
	for i := range cfg.Rules {
		if ttl := cfg.Rules[i].TTL.Seconds(); ttl > 0 {
			shortest = min(shortest, ttl)
		}
	}
	first := uint64(1)
	for _, l := range p.Loads {
		if l.Keys <= 0 || l.Rate <= 0 {
			continue
		}
		k := kind{first: first, keys: uint64(math.Ceil(l.Keys)), weight: int(min(maxWeight, max(1, l.Rate*shortest/perTTL)))}
		first += k.keys
		perSecond += l.Keys * l.Rate / float64(k.weight)
		k.upTo = perSecond
		kinds = append(kinds, k)
	}
	for i := range kinds {
		kinds[i].upTo /= perSecond
	}
	return kinds, perSecond
}

// pick draws a request.
func pick(kinds []kind, random *rand.Rand) Request {
	share := random.Float64()
	i, _ := slices.BinarySearchFunc(kinds, share, func(k kind, v float64) int {
		if k.upTo <= v {
			return -1
		}
		return 1
	})
	k := &kinds[min(i, len(kinds)-1)]
	return Request{Key: k.first + random.Uint64N(k.keys), Weight: k.weight}
}
