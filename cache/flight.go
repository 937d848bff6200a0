package cache

import (
	"context"
	"errors"
	"sync"
	"time"

	"sundry/cache/clients"
	"sundry/cache/entry"
	"sundry/cache/waiters"
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
// upstream of one endpoint would use up all, nor a client more than its share.
// Use newFlights; close ends them.
type flights struct {
	base       context.Context //nolint:containedctx // of all flights
	stop       context.CancelFunc
	unfinished sync.WaitGroup
	panics     *panics.Catcher

	mu     sync.Mutex
	byKey  map[string]*flight
	closed bool
	// count limits the fills that are running, with or without waiters, and byEndpoint is how
	// many of them are an endpoint's. A fill started by another fill is not counted again.
	count      *clients.Limit
	byEndpoint map[string]int64
}

// flight is the one running fill of a key, with the callers that wait for it. Who
// starts it either launches it, or does it, or finishes it at once.
type flight struct {
	key     string
	account account

	// done is closed when the result is there.
	done   chan struct{}
	result *flightResult
	err    error

	// Protected by the flights' lock.
	waiters waiters.Count
	cancel  context.CancelFunc // ends its context; nil: it has none yet
}

// account is the endpoint and the client against whose limits a fill counts. The endpoint
// is "" for one inside another fill.
type account struct {
	endpoint string
	client   clients.ID
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
	g := &flights{panics: p, byKey: map[string]*flight{}, count: clients.NewLimit(int64(limit)), byEndpoint: map[string]int64{}}
	g.base, g.stop = context.WithCancel(context.Background())
	return g
}

// join adds the caller to the waiters of the key's flight, which it starts if there
// is none. Every caller that joined calls leave; the one that started it does, finishes or
// launches it before.
func (g *flights) join(key string, by account) (f *flight, started bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, started, err = g.startOrJoin(key, by)
	if err == nil {
		f.waiters.Join()
	}
	return f, started, err
}

// joinDetached starts the key's flight or joins it, and lets it go on without
// waiters.
func (g *flights) joinDetached(key string, by account, fill fillFunc) (*flight, error) {
	g.mu.Lock()
	f, started, err := g.startOrJoin(key, by)
	if err == nil {
		f.waiters.Detach()
	}
	g.mu.Unlock()
	if started {
		g.launch(f, fill)
	}
	return f, err
}

// startOrJoin is called with the lock held.
func (g *flights) startOrJoin(key string, by account) (f *flight, started bool, err error) {
	if f, found := g.byKey[key]; found {
		return f, false, nil
	}
	if err := g.acquire(by); err != nil {
		return nil, false, err
	}
	f = &flight{key: key, account: by, done: make(chan struct{})}
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
	if f.cancel = cancel; f.waiters.State() == waiters.Abandoned {
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
	g.release(f.account)
	f.end()
	g.mu.Unlock()
	close(f.done)
	g.unfinished.Done()
}

// acquire takes a slot for a fill. The lock is held.
func (g *flights) acquire(by account) error {
	switch {
	case g.closed:
		return context.Canceled
	case by.endpoint == "":
		return nil
	case g.byEndpoint[by.endpoint] >= (g.count.Total()+1)/2 || !g.count.Take(by.client, 1):
		return ErrBusy
	}
	g.byEndpoint[by.endpoint]++
	return nil
}

func (g *flights) release(by account) {
	if by.endpoint == "" {
		return
	}
	g.count.Give(by.client, 1)
	if g.byEndpoint[by.endpoint]--; g.byEndpoint[by.endpoint] == 0 {
		delete(g.byEndpoint, by.endpoint)
	}
}

// acquireUnshared takes a slot for a fill that no other caller can join. Call
// done when it has ended.
func (g *flights) acquireUnshared(by account) (done func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.release(by)
	}, g.acquire(by)
}

// running is the number of running fills.
func (g *flights) running() int64 { return g.count.Used() }

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
	if f.waiters.Leave() {
		g.forget(f)
		f.end()
	}
}

// detach lets a flight go on without waiters.
func (g *flights) detach(f *flight) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f.waiters.Detach()
}

// detachIfRunning detaches the key's flight, and reports whether there is one.
func (g *flights) detachIfRunning(key string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, found := g.byKey[key]
	if found {
		f.waiters.Detach()
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
