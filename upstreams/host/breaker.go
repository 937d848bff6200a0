package host

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"sundry/cache/jitter"
)

// minimum is the number of calls below which a ratio says nothing.
const minimum = 10

// breaker is gobreaker's, held open for longer each time that a probe failed.
type breaker struct {
	*gobreaker.TwoStepCircuitBreaker[struct{}]
	inRow atomic.Uint32 // openings since it was closed last
	until atomic.Int64  // unix nanoseconds; before, nobody is let through
}

// Reset forgets what the breaker learned: the host is called as if it were new.
func (h *Host) Reset() {
	cfg, b := h.cfg, &breaker{}
	h.streak.clear()
	b.TwoStepCircuitBreaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name:         h.Name,
		MaxRequests:  2,
		Interval:     cfg.Window,
		BucketPeriod: cfg.Window / 10,
		Timeout:      time.Duration(float64(cfg.Open) * (1 - spread)), // the shortest: until holds it open for longer
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return h.streak.reaches(cfg.Failures) ||
				c.Requests >= minimum && float64(c.TotalFailures) >= cfg.Ratio*float64(c.Requests)
		},
		OnStateChange: func(_ string, _, to gobreaker.State) {
			switch to {
			case gobreaker.StateOpen:
				h.Opened.Add(1)
				b.until.Store(time.Now().Add(openFor(cfg, b.inRow.Add(1))).UnixNano())
			case gobreaker.StateClosed:
				b.inRow.Store(0)
			case gobreaker.StateHalfOpen:
			}
		},
		IsSuccessful: succeeded,
		IsExcluded:   excluded,
	})
	h.breaker.Store(b)
}

// spread is the jitter of how long a breaker stays open, so that the instances
// of a fleet do not probe a host at the same time.
const spread = 0.2

// openFor is how long the breaker stays open the nth time in a row.
func openFor(cfg Config, nth uint32) time.Duration {
	d := cfg.Open
	for range nth - 1 {
		if d *= 2; d >= cfg.OpenMax {
			d = max(cfg.OpenMax, cfg.Open)
			break
		}
	}
	return jitter.Around(d, spread)
}

// state at a time: open for as long as it is held so.
func (b *breaker) state(now time.Time) gobreaker.State {
	if s := b.State(); s != gobreaker.StateHalfOpen || now.UnixNano() >= b.until.Load() {
		return s
	}
	return gobreaker.StateOpen
}

// allow asks the breaker, unless an operator decided. probe tells that it is
// half-open.
func (h *Host) allow() (report func(error), probe bool, err error) {
	switch h.Forced() {
	case ForceOpen:
		return nil, false, errForced
	case ForceClosed:
		return func(error) {}, false, nil
	case Unforced:
	}
	b := h.breaker.Load()
	state := b.state(time.Now())
	if state == gobreaker.StateOpen {
		return nil, false, gobreaker.ErrOpenState
	}
	report, err = b.Allow()
	return report, state == gobreaker.StateHalfOpen, err
}

// errForced means that an operator keeps the breaker open.
var errForced = errors.New("the breaker is held open by an operator")

// How a call went, in what gobreaker takes: nil for a healthy one.
var (
	errFailing = errors.New("failing")
	errIgnored = errors.New("says nothing of the host")
	// errRepeated means a failure that weighs nothing.
	errRepeated = errors.New("the same caller's failure once more")
)

func succeeded(err error) bool { return err == nil }

// excluded tells calls that say nothing about the host: they ended because the
// process shuts down, or was told to stop, or are more of the same caller.
func excluded(err error) bool { return errors.Is(err, errIgnored) || errors.Is(err, errRepeated) }

// count is what the breaker is told of a call.
func (h *Host) count(o Outcome, caller Caller, now time.Time) error {
	switch {
	case o == Ignored:
		return errIgnored
	case o == Healthy:
		h.streak.clear()
		return nil
	case !h.streak.add(caller, now) && !h.streak.reaches(h.cfg.Failures):
		return errRepeated
	}
	return errFailing
}

// Caller says on whose behalf a call is made, as hashes: breakers weigh it, so
// that no single client, and no single key of callers' making, shuts a host for
// all. 0 means unknown, and is not weighed.
type Caller struct {
	Key    uint64 // of the answer that is wanted; 0 where callers cannot choose it
	Client uint64
}

// Bounds of one caller's weight among failures in a row.
const (
	// clientWeight is how many of them one client gives.
	clientWeight = 3
	// keyPause is how long the failures of one key count once.
	keyPause = time.Second
	// alone is how many times as many open the breaker where they are one
	// client's: nobody else got an answer in between.
	alone = 4
	// streakMax bounds what is remembered.
	streakMax = 256
)

// streak are the failures of a host since its last success. Unlike the breaker's
// own count it has no window, and so sees enough of slow ones.
type streak struct {
	mu     sync.Mutex
	fails  []failed
	weight int // of those that count in full
}

type failed struct {
	caller Caller
	at     time.Time
}

// add takes in a failure, and tells whether it counts in full.
func (r *streak) add(c Caller, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Key != 0 && r.repeats(c, now) {
		return false
	}
	full := c.Key == 0 || c.Client == 0 || r.fromClient(c) < clientWeight
	if full {
		r.weight++
	}
	if len(r.fails) < streakMax {
		r.fails = append(r.fails, failed{c, now})
	}
	return full
}

// repeats tells a key that failed a moment ago.
func (r *streak) repeats(c Caller, now time.Time) bool {
	return slices.ContainsFunc(r.fails, func(f failed) bool { return f.caller.Key == c.Key && now.Sub(f.at) < keyPause })
}

// fromClient counts the failures that a client gave.
func (r *streak) fromClient(c Caller) int {
	n := 0
	for _, f := range r.fails {
		if f.caller.Client == c.Client {
			n++
		}
	}
	return n
}

// clear forgets them: the host answered.
func (r *streak) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails, r.weight = r.fails[:0], 0
}

// reaches tells whether there are as many as open a breaker.
func (r *streak) reaches(limit uint32) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.weight >= int(limit) || len(r.fails) >= alone*int(limit)
}
