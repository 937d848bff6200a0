package far

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"

	"sundry/cache/jitter"
)

// breaker protects one kind of calls, reads or writes, so that they fail
// independently. Its circuit opens when Redis does not reply: refused
// connections, timeouts, invalid replies. An error that Redis replies shows that
// it is up but refuses this kind of calls (out of memory, read-only, loading,
// password): these pause, briefly at first, and the circuit stays closed.
type breaker struct {
	settings gobreaker.Settings
	circuit  atomic.Pointer[gobreaker.CircuitBreaker[struct{}]]
	refusals refusals
}

func newBreaker(name string, openFor time.Duration) *breaker {
	b := &breaker{settings: settings(name, openFor), refusals: refusals{longest: openFor}}
	b.close()
	return b
}

// close begins with a closed circuit: Redis has replied on another connection. Calls that
// are under way count for the circuit they were begun in.
func (b *breaker) close() {
	b.circuit.Store(gobreaker.NewCircuitBreaker[struct{}](b.settings))
}

// settings of a circuit: it opens after five consecutive failures, or when half of
// at least ten calls failed within ten seconds.
func settings(name string, openFor time.Duration) gobreaker.Settings {
	return gobreaker.Settings{
		Name: "redis " + name, MaxRequests: 1, Timeout: jitter.Around(openFor, spread),
		Interval: 10 * time.Second, BucketPeriod: time.Second,
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return c.ConsecutiveFailures >= 5 || c.Requests >= 10 && 2*c.TotalFailures >= c.Requests
		},
		IsSuccessful: func(err error) bool { return err == nil || isReply(err) },
		IsExcluded:   func(err error) bool { return errors.Is(err, context.Canceled) },
	}
}

// errPaused: Redis replied errors to the last calls of this kind.
var errPaused = errors.New("redis replied errors, calls are paused")

// call makes a call, unless calls are paused or the circuit is open.
func (b *breaker) call(f func() error) error {
	if b.refusals.pausing(time.Now()) {
		return errPaused
	}
	err := b.callAlways(f)
	if err == nil || isReply(err) {
		b.refusals.note(err != nil, time.Now())
	}
	return err
}

// callAlways makes a call that does not pause with the others, because Redis may
// accept it while it refuses them: one that is out of memory still deletes.
func (b *breaker) callAlways(f func() error) error {
	_, err := b.circuit.Load().Execute(func() (struct{}, error) { return struct{}{}, f() })
	return err
}

func (b *breaker) open() bool { return b.circuit.Load().State() == gobreaker.StateOpen }

// blocked reports whether no calls are made now, for either reason.
func (b *breaker) blocked() bool { return b.open() || b.refusals.pausing(time.Now()) }

// isReply reports whether Redis replied the error, rather than the network failed.
func isReply(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

// notYet reports whether Redis replied that it cannot do it at the moment: it loads its
// data, or the key has no master.
func notYet(err error) bool {
	for _, prefix := range [...]string{"LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN"} {
		if redis.HasErrorPrefix(err, prefix) {
			return true
		}
	}
	return false
}

// rejected reports whether the breaker rejected the call: it was not sent.
func rejected(err error) bool {
	return errors.Is(err, errPaused) || errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests)
}

// refusalsBeforePause is how many consecutive errors Redis may reply before calls
// pause: one may be about a single key, or a single node of many.
const refusalsBeforePause = 3

// refusals are the consecutive errors that Redis replied, and the pause that
// follows from them: a sixteenth of the longest at first, then twice as long each
// time.
type refusals struct {
	longest time.Duration
	mu      sync.Mutex
	streak  int
	pause   time.Duration
	until   time.Time
}

func (r *refusals) pausing(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.Before(r.until)
}

// note records a reply. Replies to calls that were under way when the pause began
// do not make it longer.
func (r *refusals) note(refused bool, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !refused {
		r.streak, r.pause, r.until = 0, 0, time.Time{}
		return
	}
	if r.streak++; r.streak < refusalsBeforePause || now.Before(r.until) {
		return
	}
	r.pause = min(max(2*r.pause, r.longest/16), r.longest)
	r.until = now.Add(jitter.Around(r.pause, spread))
}
