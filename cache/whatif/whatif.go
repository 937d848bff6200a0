// Package whatif says what other cache rules would have done with the requests of a
// log. It tries several rules at once, in simulated time, and counts for each of them
// hits, upstream calls, and answers that were older than the content. What it
// promises:
//
//   - Freshness is decided by package cache itself (cache.Policy), not by a copy of
//     its rules. What is simulated here is what happens around that: one flight per
//     key that takes a while, its waiters, refreshes in the background, and the soft
//     timeout.
//   - The outcome is that of one instance without Redis whose cache is empty at the
//     start, never full and never purged, and whose upstreams always answer.
//   - The same requests under the same rules have the same outcome.
//   - Memory grows with the keys, up to a bound.
//
// A request costs some 50 ns for each rule.
package whatif

import (
	"errors"
	"time"
	"unsafe"

	"sundry/cache"
)

// ErrMemory means that there are more keys than fit into the memory that they may
// take.
var ErrMemory = errors.New("too many keys")

// Request is one request of a log.
type Request struct {
	At time.Time
	// Key identifies the answer that was asked for: requests with equal keys share
	// an entry.
	Key uint64
	// Weight is for how many requests of that key and that moment it stands, where
	// the log is a sample; 0 means 1.
	Weight int
	// Latency is how long a fill that this request starts takes; 0 means that of
	// the Config. At most the policy's FillTimeout counts.
	Latency time.Duration
	// Source is who answers a fill that this request starts, because the policy may
	// limit how long its answers are fresh; "" for any other.
	Source string
	// Negative means that such a fill finds a negative answer.
	Negative bool
}

// Config of a Simulation.
type Config struct {
	// Rules to try, at least one.
	Rules []cache.Policy
	// Changes is how the content of each key changes. The zero value: nobody knows.
	// Then content changes when a timetable says so, and Older is unknown of rules
	// without one.
	Changes Changes
	// Latency of fills of which requests do not say it.
	Latency time.Duration
	// From begins what is counted. Requests before it fill
	// the cache only. The zero value counts all.
	From time.Time
	// Memory bounds the keys, together with those of other simulations; nil: no bound.
	Memory *Memory
}

// Memory is what the keys of several simulations may take.
type Memory struct{ left int64 }

// NewMemory allows that many bytes.
func NewMemory(bytes int64) *Memory { return &Memory{left: bytes} }

func (m *Memory) take(bytes int64) bool {
	if m == nil {
		return true
	}
	if m.left < bytes {
		return false
	}
	m.left -= bytes
	return true
}

// Simulation tries rules with the requests that it is given. It is not safe for
// concurrent use.
type Simulation struct {
	cfg      Config
	trials   []trial
	numbers  map[uint64]int32 // of keys, in the order of their first request
	blocks   [][]entry        // the trials' entries of each key, side by side
	first    time.Time
	last     time.Time
	requests uint64
}

// blockKeys is how many keys share a block, so that growing copies nothing.
const blockKeys = 1 << 10

// New begins a simulation.
func New(cfg Config) *Simulation {
	r := &Simulation{cfg: cfg, trials: make([]trial, len(cfg.Rules)), numbers: map[uint64]int32{}}
	for i := range cfg.Rules {
		r.trials[i] = newTrial(&cfg.Rules[i], cfg.Changes, uint64(i))
	}
	return r
}

// Add is the next request. They come in the order of time: one that is earlier than
// that before it happens at the same time. The error is ErrMemory; then the request
// did not happen.
func (r *Simulation) Add(req Request) error {
	entries, err := r.entries(req.Key)
	if err != nil {
		return err
	}
	if req.At.Before(r.last) {
		req.At = r.last
	}
	r.last = req.At
	if req.Latency == 0 {
		req.Latency = r.cfg.Latency
	}
	e := event{Request: &req, now: req.At.UnixNano(), weight: uint64(max(1, req.Weight)), counts: !req.At.Before(r.cfg.From)}
	if e.counts {
		if r.requests == 0 {
			r.first = req.At
		}
		r.requests += e.weight
	}
	for i := range r.trials {
		r.trials[i].request(&entries[i], &e)
	}
	return nil
}

// entries are the trials' entries of a key.
func (r *Simulation) entries(key uint64) ([]entry, error) {
	n, known := r.numbers[key]
	width := len(r.trials)
	if !known {
		n = int32(len(r.numbers))
		if n%blockKeys == 0 {
			const numbers = 16 + 8 // of a key in the map
			if !r.cfg.Memory.take(blockKeys * (int64(width)*int64(unsafe.Sizeof(entry{})) + numbers)) {
				return nil, ErrMemory
			}
			r.blocks = append(r.blocks, make([]entry, blockKeys*width))
		}
		r.numbers[key] = n
	}
	from := int(n%blockKeys) * width
	return r.blocks[n/blockKeys][from : from+width], nil
}

// Requests is how many were counted, by their weights.
func (r *Simulation) Requests() uint64 { return r.requests }

// Keys is how many keys were asked for.
func (r *Simulation) Keys() int { return len(r.numbers) }

// Span is from the first request that was counted to the last.
func (r *Simulation) Span() time.Duration {
	if r.requests == 0 {
		return 0
	}
	return r.last.Sub(r.first)
}

// Outcomes are those of the rules, in their order.
func (r *Simulation) Outcomes() []Outcome {
	all := make([]Outcome, len(r.trials))
	for i := range r.trials {
		all[i] = r.trials[i].outcome(r.Span())
	}
	return all
}

// Outcome is what a rule did with the requests that were counted.
type Outcome struct {
	Rule *cache.Policy
	// Requests are all. Hits of them were answered at once, from an entry that was
	// fresh or within grace. Fallbacks were answered with a stale copy after the soft
	// timeout. The others waited for a fill.
	Requests, Hits, Fallbacks uint64
	// Calls are fills that were started, refreshes included.
	Calls uint64
	// CallsPerHour are Calls by the Span, of a second at least.
	CallsPerHour float64
	// Older is the expected share of answers, 0 to 1, whose content had changed since
	// it was loaded. It has no meaning unless OlderKnown.
	Older      float64
	OlderKnown bool
	// MeanAge and P99Age are ages of answers; the latter is up to 3 % too high.
	MeanAge, P99Age time.Duration
}

// HitRatio is the share of requests that were answered at once, 0 to 1.
func (o *Outcome) HitRatio() float64 { return share(float64(o.Hits), o.Requests) }

// share is n of all; 0 of none.
func share(n float64, all uint64) float64 {
	if all == 0 {
		return 0
	}
	return n / float64(all)
}
