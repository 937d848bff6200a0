package far

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"
)

// guard stands before one kind of calls, reads or writes, so that they fail
// apart. Its breaker opens when Redis is silent: refused connections, time-outs,
// rubbish. An error that Redis replies proves that it lives, and that it does
// not want this kind of calls now (full, read-only, loading, password): they
// pause, briefly at first, and the breaker stays closed.
type guard struct {
	breaker *gobreaker.CircuitBreaker[struct{}]
	refused refusals
}

func newGuard(name string, openFor time.Duration) *guard {
	return &guard{
		breaker: gobreaker.NewCircuitBreaker[struct{}](settings(name, openFor)),
		refused: refusals{longest: openFor},
	}
}

// settings of a breaker: five failures in a row, or half of at least ten within
// ten seconds.
func settings(name string, openFor time.Duration) gobreaker.Settings {
	return gobreaker.Settings{
		Name: "redis " + name, MaxRequests: 1, Timeout: spread(openFor),
		Interval: 10 * time.Second, BucketPeriod: time.Second,
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return c.ConsecutiveFailures >= 5 || c.Requests >= 10 && 2*c.TotalFailures >= c.Requests
		},
		IsSuccessful: func(err error) bool { return err == nil || replied(err) },
		IsExcluded:   func(err error) bool { return errors.Is(err, context.Canceled) },
	}
}

// errPaused: Redis replied errors to the last calls of this kind.
var errPaused = errors.New("redis replied errors, and is left alone for a moment")

// call makes one, unless they pause or the breaker is open.
func (g *guard) call(f func() error) error {
	if g.refused.pausing(time.Now()) {
		return errPaused
	}
	err := g.order(f)
	if err == nil || replied(err) {
		g.refused.note(err != nil, time.Now())
	}
	return err
}

// order makes a call that does not pause with the others, because Redis may
// well take it while it refuses them: a full one deletes.
func (g *guard) order(f func() error) error {
	_, err := g.breaker.Execute(func() (struct{}, error) { return struct{}{}, f() })
	return err
}

func (g *guard) open() bool { return g.breaker.State() == gobreaker.StateOpen }

// shut tells whether nothing is asked now, for either reason.
func (g *guard) shut() bool { return g.open() || g.refused.pausing(time.Now()) }

// replied tells whether an error is Redis' own word, not that of the network.
func replied(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

// unsent tells of an error of the guard itself: Redis never heard of the call.
func unsent(err error) bool {
	return errors.Is(err, errPaused) || errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests)
}

// patience is how many errors in a row Redis may reply before calls pause: one
// may be about a single key, or a single node of many.
const patience = 3

// refusals are the errors that Redis replied in a row, and the pause that
// follows from them: a sixteenth of the longest, and twice that each time.
type refusals struct {
	longest time.Duration
	mu      sync.Mutex
	row     int
	pause   time.Duration
	until   time.Time
}

func (r *refusals) pausing(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.Before(r.until)
}

// note takes a reply. Those that were under way when the pause began do not
// make it longer.
func (r *refusals) note(refused bool, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !refused {
		r.row, r.pause, r.until = 0, 0, time.Time{}
		return
	}
	if r.row++; r.row < patience || now.Before(r.until) {
		return
	}
	r.pause = min(max(2*r.pause, r.longest/16), r.longest)
	r.until = now.Add(spread(r.pause))
}
