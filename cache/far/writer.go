package far

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// maxWait is how old a value may get in the queue: later it would only keep
// newer ones waiting. Orders have no such limit.
const maxWait = 5 * time.Second

// An order that failed is tried again after firstRetry, then after twice as
// long each time up to lastRetry, as long as the process lives. A round ends
// early when so many failed: Redis is not well yet.
const (
	firstRetry   = 100 * time.Millisecond
	lastRetry    = 5 * time.Second
	failedEnough = 3
)

// releaseScript deletes a lease only if it is still ours.
const releaseScript = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`

// writer works one lane off.
type writer struct {
	tier *Tier
	lane *lane
	owed []*job // orders to be tried again, in the order in which they will be
	wait time.Duration
	due  time.Time
	// unsure is when the outcome of a value's write was last unknown: what was
	// sent may yet arrive.
	unsure time.Time
}

// run ends once the queue is closed and its lane is empty.
func (w *writer) run() {
	for {
		if len(w.owed) > 0 && !time.Now().Before(w.due) {
			w.retry()
		}
		if j := w.tier.queue.pop(w.lane); j != nil {
			w.carryOut(j)
			continue
		}
		if closed, _ := w.tier.queue.ended(); closed {
			w.retry() // for the last time
			w.giveUp(w.owed...)
			return
		}
		w.sleep()
	}
}

// sleep waits for a write, or for those owed to be due.
func (w *writer) sleep() {
	var due <-chan time.Time
	if len(w.owed) > 0 {
		t := time.NewTimer(time.Until(w.due))
		defer t.Stop()
		due = t.C
	}
	select {
	case <-w.lane.wake:
	case <-due:
	}
}

func (w *writer) carryOut(j *job) {
	_, discarded := w.tier.queue.ended()
	switch {
	case discarded || !j.order() && time.Since(j.at) > maxWait:
		w.giveUp(j)
	case j.order():
		w.order(j)
	default:
		w.value(j)
	}
}

// order carries one out, and keeps it where that failed. After a write whose
// outcome is not known, a deletion is made twice: a value under way in a broken
// connection may land between.
func (w *writer) order(j *job) {
	w.forget(j) // the same from before
	err := w.tier.order(j)
	if err == nil && (j.kind == releasing || time.Since(w.unsure) > 2*lastRetry) {
		w.tier.queue.settle(w.lane, j)
		return
	}
	if len(w.owed) == 0 {
		w.wait = firstRetry
		if err == nil {
			w.wait = lastRetry
		}
		w.due = time.Now().Add(spread(w.wait))
	}
	w.owed = append(w.owed, j)
}

// value writes a value, and before it the deletion of its key that is still
// owed: else that would delete what is newer than itself.
func (w *writer) value(j *job) {
	owed := &job{kind: deleting, key: j.key}
	if slices.ContainsFunc(w.owed, owed.same) {
		if w.tier.order(owed) != nil {
			w.giveUp(j)
			return
		}
		w.forget(owed)
	}
	err := w.tier.writes.call(func() error { return w.tier.put(j) })
	w.tier.wrote(err)
	w.tier.queue.settle(w.lane, j)
	if err != nil && !replied(err) && !unsent(err) {
		w.unsure = time.Now()
	}
}

// forget settles what is owed and the same as an order.
func (w *writer) forget(order *job) {
	w.owed = slices.DeleteFunc(w.owed, func(j *job) bool {
		if j.same(order) {
			w.tier.queue.settle(w.lane, j)
		}
		return j.same(order)
	})
}

func (w *writer) giveUp(jobs ...*job) {
	for _, j := range jobs {
		w.tier.seen.dropped.Inc()
		w.tier.queue.settle(w.lane, j)
	}
}

// retry tries what is owed, and puts what fails again behind the rest.
func (w *writer) retry() {
	var failed []*job
	for len(w.owed) > 0 && len(failed) < failedEnough {
		j := w.owed[0]
		w.owed = w.owed[1:]
		switch _, discarded := w.tier.queue.ended(); {
		case discarded || j.kind == releasing && time.Since(j.at) > j.ttl:
			w.giveUp(j)
		case w.tier.order(j) != nil:
			failed = append(failed, j)
		default:
			w.tier.queue.settle(w.lane, j)
		}
	}
	w.owed = append(w.owed, failed...)
	w.wait = min(2*w.wait, lastRetry)
	if len(failed) == 0 {
		w.wait = firstRetry
	}
	w.due = time.Now().Add(spread(w.wait))
}

// order carries out a deletion or a release.
func (t *Tier) order(j *job) error {
	err := t.writes.order(func() error {
		ctx, cancel := t.writeBudget()
		defer cancel()
		if j.kind == releasing {
			return t.client.Eval(ctx, releaseScript, []string{j.key}, j.token).Err()
		}
		return t.client.Del(ctx, j.key).Err()
	})
	t.wrote(err)
	return err
}

// put writes a value.
func (t *Tier) put(j *job) error {
	ctx, cancel := t.writeBudget()
	defer cancel()
	if j.kind == setting {
		return t.client.Set(ctx, j.key, j.value, j.ttl).Err()
	}
	err := t.client.SetArgs(ctx, j.key, j.value, redis.SetArgs{Mode: "NX", TTL: j.ttl}).Err()
	if errors.Is(err, redis.Nil) {
		return nil // there is one
	}
	return err
}

// writeBudget begins a write's time.
func (t *Tier) writeBudget() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), t.writeTime)
}

func (t *Tier) wrote(err error) {
	t.seen.wrote(err)
	if err != nil {
		t.log.Debug("redis write failed", "error", err)
	}
}

// spread keeps instances from probing together: up to a fifth more or less.
func spread(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}
