package cache

import (
	"context"
	"errors"
	"sync"
	"time"

	"sundry/cache/entry"
	"sundry/metrics/panics"
)

// DefaultFills is how many fills may run at once by default.
const DefaultFills = 2000

// ErrBusy means that a fill was not started because the limit of running fills
// is reached. It says nothing about the key.
var ErrBusy = errors.New("too many fills are running")

// flights are the fills under way, at most one per key that callers can join.
// They count their waiters: a flight without any is cancelled. They are bounded
// in number, and no endpoint may have more than half of them, or the slow
// upstream of one endpoint would use up all. Use newFlights; close ends them.
type flights struct {
	base       context.Context //nolint:containedctx // of all flights
	stop       context.CancelFunc
	unfinished sync.WaitGroup
	panics     *panics.Catcher

	limit int // of fills

	mu     sync.Mutex
	byKey  map[string]*flight
	closed bool
	// count is how many fills are running, with or without waiters, and byEndpoint how many of
	// each endpoint. A fill started by another fill is not counted again.
	count      int
	byEndpoint map[string]int
}

// flight is the one running fill of a key, with the callers that wait for it. Who
// starts it either launches it, or does it, or finishes it at once.
type flight struct {
	key      string
	endpoint string // against whose limit it counts; "" for one inside another fill

	// done is closed when the result is there.
	done   chan struct{}
	result *flightResult
	err    error

	// Protected by the flights' lock.
	waiters   int
	detached  bool               // goes on without waiters, as a refresh does
	abandoned bool               // its last waiter left
	cancel    context.CancelFunc // ends its context; nil: it has none yet
}

// fillFunc produces the result of a flight.
type fillFunc func(*flight) (*flightResult, error)

// flightResult is what all waiters of a flight get.
type flightResult struct {
	entry  *entry.Entry
	tier   Tier
	stored bool
	// hadCopy: a usable copy existed while it was loaded.
	hadCopy bool
}

func newFlights(limit int, p *panics.Catcher) *flights {
	g := &flights{panics: p, limit: limit, byKey: map[string]*flight{}, byEndpoint: map[string]int{}}
	g.base, g.stop = context.WithCancel(context.Background())
	return g
}

// join adds the caller to the waiters of the key's flight, which it starts if there
// is none. Every caller that joined calls leave; the one that started it does, finishes or
// launches it before.
func (g *flights) join(key, endpoint string) (f *flight, started bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, started, err = g.startOrJoin(key, endpoint)
	if err == nil {
		f.waiters++
	}
	return f, started, err
}

// joinDetached starts the key's flight or joins it, and lets it go on without
// waiters.
func (g *flights) joinDetached(key, endpoint string, fill fillFunc) (*flight, error) {
	g.mu.Lock()
	f, started, err := g.startOrJoin(key, endpoint)
	if err == nil {
		f.detached = true
	}
	g.mu.Unlock()
	if started {
		g.launch(f, fill)
	}
	return f, err
}

// startOrJoin is called with the lock held.
func (g *flights) startOrJoin(key, endpoint string) (f *flight, started bool, err error) {
	if f, found := g.byKey[key]; found {
		return f, false, nil
	}
	if err := g.acquire(endpoint); err != nil {
		return nil, false, err
	}
	f = &flight{key: key, endpoint: endpoint, done: make(chan struct{})}
	g.byKey[key] = f
	g.unfinished.Add(1)
	return f, true, nil
}

// launch does the fill in a goroutine of its own.
func (g *flights) launch(f *flight, fill fillFunc) {
	g.panics.Go(panics.Fill, func() { g.do(f, fill) })
}

// do runs the fill, and finishes the flight.
func (g *flights) do(f *flight, fill fillFunc) {
	var got *flightResult
	err := errNoResult
	defer func() { g.finish(f, got, err) }()
	got, err = fill(f)
}

// context is that of a flight's work, in place of an earlier one. It has the values of
// the caller, and ends after the timeout, with the flight, when the last waiter leaves,
// and when the cache closes.
func (g *flights) context(caller context.Context, f *flight, timeout time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(fillContext{g.base, caller}, timeout)
	g.mu.Lock()
	defer g.mu.Unlock()
	f.end()
	if f.cancel = cancel; f.abandoned {
		cancel()
	}
	return ctx
}

// end ends the context. The lock is held.
func (f *flight) end() {
	if f.cancel != nil {
		f.cancel()
	}
}

// errNoResult: the loader ended its goroutine.
var errNoResult = errors.New("the fill ended without a result")

// finish ends a flight with its result: later callers find what it stored.
func (g *flights) finish(f *flight, got *flightResult, err error) {
	f.result, f.err = got, err
	g.mu.Lock()
	g.forget(f)
	g.release(f.endpoint)
	f.end()
	g.mu.Unlock()
	close(f.done)
	g.unfinished.Done()
}

// acquire takes a slot for a fill, which counts against the limit of an endpoint, if that is
// not "". The lock is held.
func (g *flights) acquire(endpoint string) error {
	switch {
	case g.closed:
		return context.Canceled
	case endpoint == "":
		return nil
	case g.count >= g.limit || g.byEndpoint[endpoint] >= (g.limit+1)/2:
		return ErrBusy
	}
	g.count++
	g.byEndpoint[endpoint]++
	return nil
}

func (g *flights) release(endpoint string) {
	if endpoint == "" {
		return
	}
	g.count--
	if g.byEndpoint[endpoint]--; g.byEndpoint[endpoint] == 0 {
		delete(g.byEndpoint, endpoint)
	}
}

// acquireUnshared takes a slot for a fill that no other caller can join. Call
// done when it has ended.
func (g *flights) acquireUnshared(endpoint string) (done func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.release(endpoint)
	}, g.acquire(endpoint)
}

// running is the number of running fills.
func (g *flights) running() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.count
}

// finished reports whether the result is there.
func (f *flight) finished() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// leave removes a waiter, whatever the outcome. A flight without waiters is
// cancelled and can no longer be joined: the next caller starts another one.
func (g *flights) leave(f *flight) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f.waiters--; f.waiters == 0 && !f.detached {
		g.forget(f)
		f.abandoned = true
		f.end()
	}
}

// detach lets a flight go on without waiters.
func (g *flights) detach(f *flight) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f.detached = true
}

// detachIfRunning detaches the key's flight, and reports whether there is one.
func (g *flights) detachIfRunning(key string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, found := g.byKey[key]
	if found {
		f.detached = true
	}
	return found
}

func (g *flights) forget(f *flight) {
	if g.byKey[f.key] == f {
		delete(g.byKey, f.key)
	}
}

// close cancels all flights and waits for them. None starts after it.
func (g *flights) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.stop()
	g.unfinished.Wait()
}
