package through

import (
	"context"
	"net/http"
	"sync"
	"time"

	"sundry/cache/waiters"
	"sundry/cache/web"
)

// flight is one request to an origin that several callers may share. Its head is known first: then each of them decides
// whether the response is for it, and its body is read while it arrives.
type flight struct {
	key    flightKey
	ctx    context.Context //nolint:containedctx // of the request to the origin
	cancel context.CancelFunc
	began  time.Time
	head   chan struct{} // closed once answer is known
	answer answer

	mu      sync.Mutex
	readers waiters.Count
}

// flightKey is the key of a flight: its URI, site and part, the client if it is for one client alone, and whether it is for requests with
// credentials.
type flightKey struct {
	key, site, ranged, ifRange, caller string
	credentials                        bool
}

// isForAll reports whether what a flight brings tells what others would get who ask for no part.
func (k flightKey) isForAll() bool { return k.ranged == "" && k.caller == "" }

// answer is how a flight ended: a response, with the body that is arriving or is stored, or an error.
type answer struct {
	object *web.Object // its Body is not there yet where spool is
	spool  *web.Spool  // nil: the body is that of the object
	// trailer is known once the spool has ended; nil: there is none.
	trailer *http.Header
	status  web.CacheStatus
	// shared: it may be given to others than the leader.
	shared bool
	err    error
}

// flights are those under way, by what they ask for.
type flights struct {
	mu    sync.Mutex
	byKey map[flightKey]*flight
}

// newFlight returns a flight with one reader. It is cancelled with ctx.
func newFlight(ctx context.Context, key flightKey, now time.Time) *flight {
	f := &flight{key: key, began: now, head: make(chan struct{})}
	f.readers.Join()
	f.ctx, f.cancel = context.WithCancel(ctx)
	return f
}

// join returns the flight for a key, and whether the caller started it now, and is to carry it out. One that began before
// what it is for was purged is not joined. A new one has the values of ctx, and is not cancelled with it. Each caller calls leave.
func (s *flights) join(ctx context.Context, key flightKey, now time.Time, isPurged func(*flight) bool) (f *flight, started bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f = s.byKey[key]; f != nil && !isPurged(f) && f.enter() {
		return f, false
	}
	f = newFlight(context.WithoutCancel(ctx), key, now)
	if s.byKey == nil {
		s.byKey = map[flightKey]*flight{}
	}
	s.byKey[key] = f
	return f, true
}

// enter adds a reader; false: the flight was cancelled, since nobody was left, or the beginning of its body is gone.
func (f *flight) enter() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.begun() || !f.readers.Join() {
		return false
	}
	if s := f.spool(); s != nil {
		s.Hold()
	}
	return true
}

// spool returns the spool of the response. nil means that the header has not arrived, or that no body does.
func (f *flight) spool() *web.Spool {
	select {
	case <-f.head:
		return f.answer.spool
	default:
		return nil
	}
}

// object returns the response without its body; nil means that the header has not arrived, or will not.
func (f *flight) object() *web.Object {
	select {
	case <-f.head:
		return f.answer.object
	default:
		return nil
	}
}

// begun reports whether who comes now can no longer read the body from its beginning.
func (f *flight) begun() bool {
	s := f.spool()
	return s != nil && !s.FromStart()
}

// leave takes a reader away. With the last one the flight is cancelled, unless it is kept.
func (f *flight) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.readers.Leave() {
		f.abandon()
	}
	if s := f.spool(); s != nil {
		s.Release()
	}
}

// abandon cancels the flight. The lock is held.
func (f *flight) abandon() {
	f.cancel()
	if s := f.spool(); s != nil {
		s.Close(context.Canceled) // or who writes it would wait for a reader
	}
}

// keep lets the flight go on without readers.
func (f *flight) keep() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readers.Detach()
}

// unkeep ends a flight that goes on without readers, once it turns out that the store gets nothing of it.
func (f *flight) unkeep() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.readers.Attach() {
		f.abandon()
	}
}

// known publishes the answer of the flight and adds the flight's readers to its spool. Others do not join if the response must not be shared.
func (s *flights) known(f *flight, a answer) {
	if !a.shared {
		s.remove(f)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if a.spool != nil {
		for range f.readers.N() {
			a.spool.Hold()
		}
	}
	f.answer = a
	close(f.head)
}

// remove lets later callers start another flight.
func (s *flights) remove(f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byKey[f.key] == f {
		delete(s.byKey, f.key)
	}
}
