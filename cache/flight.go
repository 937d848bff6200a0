package cache

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/singleflight"
)

// DefaultFills is how many fills may run at once when nothing else is said.
const DefaultFills = 2000

// ErrBusy is of a fill that was not begun because as many run as may. It says
// nothing about the key, which may be asked for again in a moment.
var ErrBusy = errors.New("as many fills run as may")

// flights are the fills under way, at most one per key that anybody can join.
// They know who waits: a flight that everybody left is cancelled. They are
// bounded in number, and no endpoint may have more than half of them, or a
// single one's slow upstream would use up all. Use newFlights; close ends them.
type flights struct {
	group singleflight.Group
	life  context.Context //nolint:containedctx // of all flights
	stop  context.CancelFunc
	busy  sync.WaitGroup

	mu     sync.Mutex // also held while the group's call of a key begins or is forgotten, so that both know the same ones
	of     map[string]*flight
	closed bool
	fills  fills
}

// fills are those that run, be it without anybody who waits. What a fill asks
// for in its turn is counted with it. The flights' lock guards them.
type fills struct {
	limit, running int
	by             map[string]int // endpoint
}

func (f *fills) begin(endpoint string) bool {
	if f.running >= f.limit || f.by[endpoint] >= (f.limit+1)/2 {
		return false
	}
	f.running++
	f.by[endpoint]++
	return true
}

func (f *fills) end(endpoint string) {
	f.running--
	if f.by[endpoint]--; f.by[endpoint] == 0 {
		delete(f.by, endpoint)
	}
}

// flight is one fill under way. Its context ends with it, when the last one who
// waits leaves, and when the cache closes.
type flight struct {
	key     string
	by      string          // the endpoint it counts for; "" for one inside another
	ctx     context.Context //nolint:containedctx // of the fill, whoever waits
	cancel  context.CancelFunc
	waiters int
	stays   bool // goes on without waiters: it refreshes what is in the cache
}

// filler brings what the waiters of a flight get.
type filler func(life context.Context) (*landing, error)

// landing is what a flight brings to everyone who waits for it.
type landing struct {
	entry  *entry
	tier   Tier
	stored bool
	// covered means that a copy was at hand while it was loaded.
	covered bool
}

func newFlights(limit int) *flights {
	g := &flights{of: map[string]*flight{}, fills: fills{limit: limit, by: map[string]int{}}}
	g.life, g.stop = context.WithCancel(context.Background())
	return g
}

// join makes the caller one of those who wait for the key's flight, and begins
// one (led) where there is none. Whoever joined leaves it in the end.
func (g *flights) join(key, by string, fill filler) (f *flight, results <-chan singleflight.Result, led bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, results, led, err = g.board(key, by, fill)
	if err == nil {
		f.waiters++
	}
	return f, results, led, err
}

// joinBehind does so for a flight that goes on when nobody waits.
func (g *flights) joinBehind(key, by string, fill filler) (<-chan singleflight.Result, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, results, _, err := g.board(key, by, fill)
	if err == nil {
		f.stays = true
	}
	return results, err
}

func (g *flights) board(key, by string, fill filler) (*flight, <-chan singleflight.Result, bool, error) {
	f, found := g.of[key]
	if !found {
		if err := g.begin(by); err != nil {
			return nil, nil, false, err
		}
		f = &flight{key: key, by: by}
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
	g.end(f.by)
	g.mu.Unlock()
	f.cancel()
	g.busy.Done()
}

// begin counts a fill in, under the lock.
func (g *flights) begin(by string) error {
	switch {
	case g.closed:
		return context.Canceled
	case by != "" && !g.fills.begin(by):
		return ErrBusy
	}
	return nil
}

func (g *flights) end(by string) {
	if by != "" {
		g.fills.end(by)
	}
}

// alone counts a fill that nobody can join. Call done when it has ended.
func (g *flights) alone(by string) (done func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.end(by)
	}, g.begin(by)
}

// running is how many fills there are.
func (g *flights) running() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.fills.running
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
