package host

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"sundry/cache/clients"
	"sundry/cache/jitter"
)

// minRequests is the number of calls below which the ratio is not looked at.
const minRequests = 10

// breaker is gobreaker's, kept open for longer each time that a probe fails.
type breaker struct {
	*gobreaker.TwoStepCircuitBreaker[struct{}]
	openings atomic.Uint32 // openings since it was last closed
	until    atomic.Int64  // unix nanoseconds; before, it is open
}

// Reset replaces the breaker with a new, closed one.
func (h *Host) Reset() {
	cfg, b := h.cfg, &breaker{}
	h.streak.clear()
	b.TwoStepCircuitBreaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name:         h.Name,
		MaxRequests:  2,
		Interval:     cfg.Window,
		BucketPeriod: cfg.Window / 10,
		Timeout:      time.Duration(float64(min(cfg.Open, downFor)) * (1 - spread)), // the shortest: until holds it open for longer
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return h.streak.reaches(cfg.Failures) ||
				c.Requests >= minRequests && float64(c.TotalFailures) >= cfg.Ratio*float64(c.Requests)
		},
		OnStateChange: func(_ string, _, to gobreaker.State) {
			switch to {
			case gobreaker.StateOpen:
				h.opened.Add(1)
				b.until.Store(time.Now().Add(h.openFor(b)).UnixNano())
			case gobreaker.StateClosed:
				b.openings.Store(0)
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

// healthyFor is how long a host that was Healthy is not taken for failing because of calls that are Slow.
const healthyFor = time.Minute

// downFor is how long a breaker stays open for a host that is Down: after a restart of the host, clients wait for no more than a second.
const downFor = 800 * time.Millisecond

// openFor returns how long the breaker stays open after it has just opened.
func (h *Host) openFor(b *breaker) time.Duration {
	if h.down.Load() {
		b.openings.Store(0) // what comes next is no repetition
		return jitter.Around(min(h.cfg.Open, downFor), spread)
	}
	return openFor(h.cfg, b.openings.Add(1))
}

// openFor is how long the breaker stays open the nth consecutive time.
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

// state at now. gobreaker turns half-open after the shortest time; until the time
// with backoff has passed, the breaker is still open.
func (b *breaker) state(now time.Time) gobreaker.State {
	if s := b.State(); s != gobreaker.StateHalfOpen || now.UnixNano() >= b.until.Load() {
		return s
	}
	return gobreaker.StateOpen
}

// allow asks the breaker, unless an operator holds it. probe: it is half-open.
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

// errForced means that an operator holds the breaker open.
var errForced = errors.New("the breaker is held open by an operator")

// Outcomes as gobreaker takes them: an error, or nil for a healthy call.
var (
	errFailing = errors.New("failing")
	errIgnored = errors.New("says nothing about the host")
	// errRepeated stands for a failure that does not count.
	errRepeated = errors.New("the same caller's failure once more")
)

func succeeded(err error) bool { return err == nil }

// excluded reports whether a call counts neither as a success nor as a failure.
func excluded(err error) bool { return errors.Is(err, errIgnored) || errors.Is(err, errRepeated) }

// count adds a call to the streak and returns what gobreaker counts it as.
func (h *Host) count(o Health, caller caller, now time.Time) error {
	switch {
	case o == Ignored:
		return errIgnored
	case o == Healthy:
		h.healthy.Store(now.UnixNano())
		h.streak.clear()
		return nil
	case o == Slow && now.UnixNano()-h.healthy.Load() < int64(healthyFor):
		return errIgnored
	}
	h.down.Store(o == Down)
	if !h.streak.add(caller, now) && !h.streak.reaches(h.cfg.Failures) {
		return errRepeated
	}
	return errFailing
}

// caller is a key and a client for which a call is made. A failure without one of them
// always counts.
type caller struct {
	key    uint64
	client clients.ID
}

// Bounds of how much one caller counts among consecutive failures.
const (
	// clientWeight is how many failures of one client count.
	clientWeight = 3
	// keyPause is the time in which the failures of one key count once.
	keyPause = time.Second
	// uncountedFactor times Failures consecutive failures open the breaker even if
	// they do not all count, since nobody had a success in between.
	uncountedFactor = 4
	// streakMax bounds how many failures are remembered.
	streakMax = 256
)

// streak holds the failures of a host since its last success. Unlike the counts of
// gobreaker it has no window, so that slow failures add up as well.
type streak struct {
	mu     sync.Mutex
	fails  []failed
	weight int // how many of them count
}

type failed struct {
	caller caller
	at     time.Time
}

// add adds a failure, and reports whether it counts.
func (s *streak) add(c caller, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.key != 0 && s.repeats(c, now) {
		return false
	}
	counts := c.key == 0 || c.client == clients.Nobody || s.fromClient(c) < clientWeight
	if counts {
		s.weight++
	}
	if len(s.fails) < streakMax {
		s.fails = append(s.fails, failed{c, now})
	}
	return counts
}

// repeats reports whether the same key failed within keyPause.
func (s *streak) repeats(c caller, now time.Time) bool {
	return slices.ContainsFunc(s.fails, func(f failed) bool { return f.caller.key == c.key && now.Sub(f.at) < keyPause })
}

// fromClient counts the failures of a client.
func (s *streak) fromClient(c caller) int {
	n := 0
	for _, f := range s.fails {
		if f.caller.client == c.client {
			n++
		}
	}
	return n
}

// clear ends the streak: the host answered.
func (s *streak) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails, s.weight = s.fails[:0], 0
}

// reaches reports whether the failures are enough to open the breaker.
func (s *streak) reaches(limit uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.weight >= int(limit) || len(s.fails) >= uncountedFactor*int(limit)
}
