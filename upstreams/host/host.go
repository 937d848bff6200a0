// Package host says whether an upstream host may be called, and how often. What
// the package promises:
//
//   - One breaker per host: it opens by failures in a row or by their share, for
//     longer each time, and no single client or key opens it for everybody.
//   - No more calls at once than are allowed, with a short queue before them;
//     work that has no declared host is bounded likewise.
//   - Retries have a budget: a host that is down is not asked twice as often.
//   - An operator's hold comes before what the breaker has learned.
package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
	"golang.org/x/time/rate"
)

// Config says when a host is left alone, and for how long.
type Config struct {
	// Open is how long at first; 0 means 10 s. It doubles with each probe that
	// fails, up to OpenMax; each time by up to a fifth more or less, so that
	// instances do not probe together.
	Open time.Duration
	// OpenMax; 0 means 5 min.
	OpenMax time.Duration
	// Probe bounds a call while the breaker is half-open; 0 means 3 s.
	Probe time.Duration
	// Failures in a row that open it; 0 means 5.
	Failures uint32
	// Ratio of failures among at least ten calls in Window that opens it; 0
	// means 0.5.
	Ratio float64
	// Window of the ratio; 0 means 30 s.
	Window time.Duration
	// Concurrent calls to one host; 0 means 64.
	Concurrent int64
}

func (c Config) withDefaults() Config {
	pick := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	pick(&c.Open, 10*time.Second)
	pick(&c.OpenMax, 5*time.Minute)
	pick(&c.Probe, 3*time.Second)
	pick(&c.Window, 30*time.Second)
	if c.Failures == 0 {
		c.Failures = 5
	}
	if c.Ratio == 0 {
		c.Ratio = 0.5
	}
	if c.Concurrent == 0 {
		c.Concurrent = 64
	}
	return c
}

// Host is one upstream host: its breaker, its share of concurrent calls and its
// retry budget. It outlives reloads.
type Host struct {
	Name    string
	cfg     Config
	breaker atomic.Pointer[breaker]
	forced  atomic.Uint32 // a Force
	Opened  atomic.Uint64 // how often the breaker opened
	streak  streak
	slots   *slots
	Retries *rate.Limiter
}

func newHost(name string, cfg Config) *Host {
	cfg = cfg.withDefaults()
	h := &Host{
		Name:  name,
		cfg:   cfg,
		slots: newSlots(cfg.Concurrent, cfg.Concurrent),
		// One retry a second, a few saved up: enough for a broken connection,
		// too little to double the load on a host that is down.
		Retries: rate.NewLimiter(1, 5),
	}
	h.Reset()
	return h
}

// ErrRejected means that a breaker lets no call through, by what it has learned or
// because an operator holds it open.
var ErrRejected = errors.New("rejected")

// Outcome is what a call says of its host.
type Outcome uint8

// The outcomes.
const (
	// Healthy calls say nothing against the host, whatever was answered.
	Healthy Outcome = iota
	// Failing calls count against it.
	Failing
	// Ignored calls say nothing: they ended because nobody wanted them any more.
	Ignored
)

// Enter asks for leave to call the host on a caller's behalf. within is ctx, with
// a deadline where the call is a probe: while it runs, the others are rejected.
// done reports how the call went, and must be called once. The error is
// ErrRejected, ErrBusy, or ctx's.
func (h *Host) Enter(ctx context.Context, caller Caller) (within context.Context, done func(Outcome), err error) {
	leave, err := h.slots.acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	report, probe, err := h.allow()
	if err != nil {
		leave()
		return nil, nil, fmt.Errorf("%w: %w", ErrRejected, err)
	}
	within, cancel := ctx, func() {}
	if probe {
		within, cancel = context.WithTimeout(ctx, h.cfg.Probe)
	}
	return within, func(o Outcome) {
		cancel()
		leave()
		report(h.count(o, caller, time.Now()))
	}, nil
}

// State is "closed", "half-open" or "open".
func (h *Host) State() string {
	switch h.Forced() {
	case ForceOpen:
		return gobreaker.StateOpen.String()
	case ForceClosed:
		return gobreaker.StateClosed.String()
	case Unforced:
	}
	return h.breaker.Load().state(time.Now()).String()
}

// Hosts are all upstream hosts that sources have named so far. The zero value
// is empty and ready.
type Hosts struct {
	mu     sync.Mutex
	byName map[string]*Host
	Config Config
}

// Get finds or makes the host. Names come from catalog files, never from
// callers, so there are few.
func (hs *Hosts) Get(name string) *Host {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if h := hs.byName[name]; h != nil {
		return h
	}
	if hs.byName == nil {
		hs.byName = map[string]*Host{}
	}
	h := newHost(name, hs.Config)
	hs.byName[name] = h
	return h
}

// All lists them, in no order.
func (hs *Hosts) All() []*Host {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	all := make([]*Host, 0, len(hs.byName))
	for _, h := range hs.byName {
		all = append(all, h)
	}
	return all
}

// Force is an operator's word on a breaker.
type Force uint8

// What an operator can say.
const (
	Unforced    Force = iota // the breaker decides by itself
	ForceOpen                // no calls
	ForceClosed              // calls, whatever comes of them
)

// Force holds the breaker, or lets go of it.
func (h *Host) Force(f Force) { h.forced.Store(uint32(f)) }

// Forced is the word in force.
func (h *Host) Forced() Force { return Force(h.forced.Load()) }

// String is auto, open or closed.
func (f Force) String() string { return [...]string{"auto", "open", "closed"}[min(f, ForceClosed)] }

// ParseForce reads what String writes.
func ParseForce(s string) (Force, error) {
	for f := range ForceClosed + 1 {
		if f.String() == s {
			return f, nil
		}
	}
	return Unforced, fmt.Errorf("%q: want auto, open or closed", s)
}
