package upstreams

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

// BreakerConfig says when a host is left alone, and for how long.
type BreakerConfig struct {
	// Open is how long; 0 means 10 s. Each host gets up to a fifth more or
	// less, so that instances do not probe together.
	Open time.Duration
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

func (c BreakerConfig) withDefaults() BreakerConfig {
	pick := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	pick(&c.Open, 10*time.Second)
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

// minimum is the number of calls below which a ratio says nothing.
const minimum = 10

// Host is one upstream host: its breaker, its share of concurrent calls and its
// retry budget. It outlives reloads.
type Host struct {
	Name    string
	cfg     BreakerConfig
	breaker atomic.Pointer[breaker]
	forced  atomic.Uint32 // a Force
	opened  atomic.Uint64 // how often the breaker opened
	// inRow are the failures in a row. The breaker's own count forgets those that
	// are older than its window, and so never sees enough of slow ones.
	inRow   atomic.Uint32
	slots   *semaphore.Weighted
	retries *rate.Limiter
}

type breaker = gobreaker.TwoStepCircuitBreaker[struct{}]

// errBusy means that a host's slots stayed taken.
var errBusy = errors.New("too many calls to this host are running")

func newHost(name string, cfg BreakerConfig) *Host {
	cfg = cfg.withDefaults()
	h := &Host{
		Name:  name,
		cfg:   cfg,
		slots: semaphore.NewWeighted(cfg.Concurrent),
		// One retry a second, a few saved up: enough for a broken connection,
		// too little to double the load on a host that is down.
		retries: rate.NewLimiter(1, 5),
	}
	h.Reset()
	return h
}

// Reset forgets what the breaker learned: the host is called as if it were new.
func (h *Host) Reset() {
	cfg := h.cfg
	h.inRow.Store(0)
	h.breaker.Store(gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name:         h.Name,
		MaxRequests:  2,
		Interval:     cfg.Window,
		BucketPeriod: cfg.Window / 10,
		Timeout:      time.Duration(float64(cfg.Open) * (0.8 + 0.4*rand.Float64())),
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return h.inRow.Load() >= cfg.Failures ||
				c.Requests >= minimum && float64(c.TotalFailures) >= cfg.Ratio*float64(c.Requests)
		},
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				h.opened.Add(1)
			}
		},
		IsSuccessful: succeeded,
		IsExcluded:   excluded,
	}))
}

// enter asks for leave to call the host. done reports how the call went, and
// must be called once.
func (h *Host) enter(ctx context.Context) (done func(error), err error) {
	report, err := h.allow()
	if err != nil {
		return nil, &Error{Kind: Rejected, Err: err}
	}
	if !h.slots.TryAcquire(1) {
		wait, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		if h.slots.Acquire(wait, 1) != nil {
			report(context.Canceled)
			return nil, &Error{Kind: Rejected, Err: errBusy}
		}
	}
	return func(err error) {
		h.slots.Release(1)
		h.count(err)
		report(err)
	}, nil
}

// count keeps the failures in a row, before the breaker hears of the call.
func (h *Host) count(err error) {
	switch {
	case excluded(err):
	case succeeded(err):
		h.inRow.Store(0)
	default:
		h.inRow.Add(1)
	}
}

// succeeded tells calls that say nothing against the host.
func succeeded(err error) bool { return err == nil || !KindOf(err).counts() }

// excluded tells calls that say nothing about the host: they ended because the
// process shuts down, or was told to stop.
func excluded(err error) bool { return errors.Is(err, context.Canceled) }

// State is "closed", "half-open" or "open".
func (h *Host) State() string {
	switch h.Forced() {
	case ForceOpen:
		return gobreaker.StateOpen.String()
	case ForceClosed:
		return gobreaker.StateClosed.String()
	case Unforced:
	}
	return h.breaker.Load().State().String()
}

// Hosts are all upstream hosts that sources have named so far. The zero value
// is empty and ready.
type Hosts struct {
	mu     sync.Mutex
	byName map[string]*Host
	Config BreakerConfig
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
