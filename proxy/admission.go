package proxy

import (
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"sundry/cache"
)

// errShed means that there was no place to wait for an answer.
var errShed = errors.New("too many requests are waiting")

// admission counts the requests that wait for an answer, and lets no more wait
// than the limit. Of the places that are free, an endpoint may hold as many as
// its share allows (with a half: no more than are free): one alone gets just its
// share, several get less each, and there is always room for another.
type admission struct {
	mu      sync.Mutex
	limit   int64
	ratio   float64 // of an endpoint's places to free ones
	waiting int64

	pressure pressure
	delays   delays
	delay    func() time.Duration // reads them; tests have their own
	looked   time.Time
}

// place counts the requests of an endpoint among them; admission guards it. It
// is the same before and after a reload.
type place struct{ waiting int64 }

// use takes over limits, whose zero values are filled in.
func (a *admission) use(l Limits) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.limit, a.ratio = l.InFlight, l.Share/(1-l.Share) // of all: infinite
	a.pressure.target = l.Delay
	if a.delay == nil {
		a.delay = a.delays.read
	}
}

// pressed tells whether a request that comes at now is shed by the time that
// others wait. It looks at that when it is due: without requests that must wait,
// there is nothing to shed. The caller holds mu.
func (a *admission) pressed(now time.Time) bool {
	if a.pressure.target == 0 {
		return false
	}
	if now.Sub(a.looked) >= pressureEvery {
		a.pressure.feel(a.delay(), a.looked, now)
		a.looked = now
	}
	return a.pressure.share > 0 && rand.Float64() < a.pressure.share
}

// enter takes a place for a request of the endpoint; false: it is to be shed.
func (a *admission) enter(of *place, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pressed(now) {
		return false
	}
	free := a.limit - a.waiting
	if free <= 0 || float64(of.waiting) >= a.ratio*float64(free) {
		return false
	}
	a.waiting++
	of.waiting++
	return true
}

func (a *admission) leave(of *place) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting--
	of.waiting--
}

// shed is the share that is shed by the time that others wait.
func (a *admission) shed() float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pressure.share
}

// count tells how many wait, and how many may.
func (a *admission) count() (waiting, limit int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.waiting, a.limit
}

// look answers out of the near tier, or waits where there is a place to wait in.
// Where there is none, a stale copy that may stand in for a refresh does.
func (s *Server) look(x *exchange, space *cache.Space, key string, want cache.Want, load cache.Loader) (cache.Hit, error) {
	ctx := waiting{x}
	hit, ready := space.Peek(ctx, key, want, load)
	if ready {
		return hit, nil
	}
	if !s.load.enter(x.route.place, x.start) {
		if stale, ok := space.Fallback(key, &hit, errShed); ok {
			return stale, nil
		}
		return cache.Hit{}, errShed
	}
	defer s.load.leave(x.route.place)
	return space.Await(ctx, key, want, load, &hit)
}
