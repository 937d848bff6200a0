// Package host decides whether an upstream host may be called. What the package
// promises:
//
//   - One breaker per host: it opens on consecutive failures or on their ratio, for
//     longer each time, unless nothing listens there, and no single client or key
//     opens it for everybody.
//   - Bounded concurrency, with a short queue; work without a declared host is
//     bounded likewise.
//   - A retry budget: a host that is down does not get twice the load.
//   - Where a service allows so many calls, there are no more attempts to call it.
//   - An operator's hold overrides the breaker.
package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
	"golang.org/x/time/rate"

	"sundry/cache/clients"
)

// Config says when a breaker opens, and for how long.
type Config struct {
	// Open is how long a breaker stays open; 0 means 10 s. It doubles with each
	// failed probe, up to OpenMax, with 20 % jitter, so that instances do not
	// probe at the same time.
	Open time.Duration
	// OpenMax; 0 means 5 min.
	OpenMax time.Duration
	// Probe bounds a call while the breaker is half-open; 0 means 3 s.
	Probe time.Duration
	// Failures is how many consecutive ones open it; 0 means 5.
	Failures uint32
	// Ratio of failures among at least ten calls in Window that opens it; 0
	// means 0.5.
	Ratio float64
	// Window of the ratio; 0 means 30 s.
	Window time.Duration
	// Concurrent is how many calls of one host run at the same time; 0 means 64.
	Concurrent int64
}

func (c Config) withDefaults() Config {
	return Config{
		Open: cmp.Or(c.Open, 10*time.Second), OpenMax: cmp.Or(c.OpenMax, 5*time.Minute), Probe: cmp.Or(c.Probe, 3*time.Second),
		Failures: cmp.Or(c.Failures, 5), Ratio: cmp.Or(c.Ratio, 0.5), Window: cmp.Or(c.Window, 30*time.Second),
		Concurrent: cmp.Or(c.Concurrent, 64),
	}
}

// Host is one upstream host: its breaker, its slots and its retry budget. It
// outlives reloads. It is safe for concurrent use.
type Host struct {
	Name    string
	cfg     Config
	breaker atomic.Pointer[breaker]
	forced  atomic.Uint32 // a Force
	opened  atomic.Uint64 // how often the breaker opened
	down    atomic.Bool   // the last call that failed was Down
	healthy atomic.Int64  // when a call was last Healthy, in unix nanoseconds
	streak  streak
	slots   *slots
	retries *rate.Limiter
}

func newHost(name string, cfg Config) *Host {
	cfg = cfg.withDefaults()
	h := &Host{
		Name:  name,
		cfg:   cfg,
		slots: newSlots(cfg.Concurrent, cfg.Concurrent),
		// One retry a second with a burst of five: enough for a broken
		// connection, too little to double the load on a host that is down.
		retries: rate.NewLimiter(1, 5),
	}
	h.Reset()
	return h
}

// ErrRejected means that the breaker is open, half-open with as many probes as it
// allows, or held open by an operator.
var ErrRejected = errors.New("rejected")

// Health is what the result of a call says about its host.
type Health uint8

// What it says.
const (
	// Healthy calls do not count against the host, whatever was answered.
	Healthy Health = iota
	// Failing calls count against it.
	Failing
	// Ignored calls count neither way: they were cancelled.
	Ignored
	// Down is Failing, and nothing listened there, which was known at once.
	Down
	// Slow is Failing, unless the host was Healthy a minute ago or later: then others are answered by it.
	Slow
)

// Enter takes a slot for the client of ctx and asks the breaker. key is a hash of what
// is asked for, so that no single key that clients can choose opens the breaker for
// everybody; 0 means that they cannot choose it. within is ctx, with a deadline where the
// call is a probe: while probes run, other calls are rejected. done releases the
// slot and reports the health; it must be called once. The error is ErrRejected,
// ErrBusy, or ctx's.
func (h *Host) Enter(ctx context.Context, key uint64) (within context.Context, done func(Health), err error) {
	return h.EnterFor(ctx, clients.From(ctx), key)
}

// EnterFor is Enter for a client that ctx need not have.
func (h *Host) EnterFor(ctx context.Context, client clients.ID, key uint64) (within context.Context, done func(Health), err error) {
	if err := h.slots.take(ctx, client); err != nil {
		return nil, nil, err
	}
	report, probe, err := h.allow()
	if err != nil {
		h.slots.release(client)
		return nil, nil, fmt.Errorf("%w: %w", ErrRejected, err)
	}
	within, cancel := ctx, func() {}
	if probe {
		within, cancel = context.WithTimeout(ctx, h.cfg.Probe)
	}
	return within, func(o Health) {
		cancel()
		h.slots.release(client)
		report(h.count(o, caller{key, client}, time.Now()))
	}, nil
}

// AllowRetry takes from the retry budget; false when it is used up.
func (h *Host) AllowRetry() bool { return h.retries.Allow() }

// Openings is how often the breaker opened, probes that failed included.
func (h *Host) Openings() uint64 { return h.opened.Load() }

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
// is empty and ready to use.
type Hosts struct {
	mu     sync.Mutex
	byName map[string]*Host
	checks map[[2]string]*Check // by API and host
	Config Config
}

// Get returns the host of that name, new when there is none yet. Names come from
// catalog files, never from callers, so they are few.
func (hs *Hosts) Get(name string) *Host { return hs.GetWith(name, 0) }

// GetWith is Get with another bound of the calls that run at the same time, of a new host; 0 means that of Config.
func (hs *Hosts) GetWith(name string, concurrent int64) *Host {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if h := hs.byName[name]; h != nil {
		return h
	}
	if hs.byName == nil {
		hs.byName = map[string]*Host{}
	}
	cfg := hs.Config
	cfg.Concurrent = cmp.Or(concurrent, cfg.Concurrent)
	h := newHost(name, cfg)
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

// Force is how an operator holds a breaker.
type Force uint8

// The ways to hold it.
const (
	Unforced    Force = iota // the breaker decides by itself
	ForceOpen                // no calls
	ForceClosed              // calls are allowed, whatever their results
)

// Force holds the breaker, or releases it.
func (h *Host) Force(f Force) { h.forced.Store(uint32(f)) }

// Forced is how the breaker is held.
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
	return Unforced, fmt.Errorf("%q: expected auto, open or closed", s)
}
