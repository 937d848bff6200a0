package cache

import (
	"context"
	"sync"

	"golang.org/x/sync/singleflight"
)

// flights are the fills under way, at most one per key that anybody can join.
// They know who waits: a flight that everybody left is cancelled. Use
// newFlights; close ends them.
type flights struct {
	group singleflight.Group
	life  context.Context //nolint:containedctx // of all flights
	stop  context.CancelFunc
	busy  sync.WaitGroup

	mu     sync.Mutex // also held while the group's call of a key begins or is forgotten, so that both know the same ones
	of     map[string]*flight
	closed bool
}

// flight is one fill under way. Its context ends with it, when the last one who
// waits leaves, and when the cache closes.
type flight struct {
	key     string
	ctx     context.Context //nolint:containedctx // of the fill, whoever waits
	cancel  context.CancelFunc
	waiters int
	stays   bool // goes on without waiters: it refreshes what is in the cache
}

// filler brings what the waiters of a flight get.
type filler func(life context.Context) (*landing, error)

func newFlights() *flights {
	g := &flights{of: map[string]*flight{}}
	g.life, g.stop = context.WithCancel(context.Background())
	return g
}

// join makes the caller one of those who wait for the key's flight, and begins
// one (led) where there is none. Whoever joined leaves it in the end.
func (g *flights) join(key string, fill filler) (f *flight, results <-chan singleflight.Result, led bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, results, led, err = g.board(key, fill)
	if err == nil {
		f.waiters++
	}
	return f, results, led, err
}

// joinBehind does so for a flight that goes on when nobody waits.
func (g *flights) joinBehind(key string, fill filler) (<-chan singleflight.Result, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, results, _, err := g.board(key, fill)
	if err == nil {
		f.stays = true
	}
	return results, err
}

func (g *flights) board(key string, fill filler) (*flight, <-chan singleflight.Result, bool, error) {
	f, found := g.of[key]
	if !found {
		if g.closed {
			return nil, nil, false, context.Canceled
		}
		f = &flight{key: key}
		f.ctx, f.cancel = context.WithCancel(g.life)
		g.of[key] = f
		g.busy.Add(1)
	}
	results := g.group.DoChan(key, func() (any, error) {
		defer g.land(f)
		return fill(f.ctx)
	})
	return f, results, !found, nil
}

// land ends a flight: who comes now finds what it stored.
func (g *flights) land(f *flight) {
	g.mu.Lock()
	g.forget(f)
	g.mu.Unlock()
	f.cancel()
	g.busy.Done()
}

// leave is for one who waited, whatever came of it. A flight that nobody waits
// for any more is cancelled, and cannot be joined from then on: who comes begins
// another one.
func (g *flights) leave(f *flight) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f.waiters--; f.waiters == 0 && !f.stays {
		g.forget(f)
		f.cancel()
	}
}

// keep lets a flight go on when all have left.
func (g *flights) keep(f *flight) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f.stays = true
}

// keepIfAny does so for a key's flight, and tells whether there is one.
func (g *flights) keepIfAny(key string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, found := g.of[key]
	if found {
		f.stays = true
	}
	return found
}

func (g *flights) forget(f *flight) {
	if g.of[f.key] == f {
		delete(g.of, f.key)
		g.group.Forget(f.key)
	}
}

// close cancels all, and waits for them. None begins after it.
func (g *flights) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.stop()
	g.busy.Wait()
}
