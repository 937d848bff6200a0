package far

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"sundry/cache/jitter"
)

// maxAge is how long a value may wait in the queue: older ones would only delay
// newer ones. Deletions have no such limit.
const maxAge = 5 * time.Second

// A failed deletion is retried after firstRetry, then after twice as long each
// time up to lastRetry, until it succeeds. A round of retries ends early after
// maxFailedPerRound failures: Redis has not recovered yet.
const (
	firstRetry        = 100 * time.Millisecond
	lastRetry         = 5 * time.Second
	maxFailedPerRound = 3
)

// writer carries out the writes of one shard.
type writer struct {
	tier    *Tier
	shard   *shard
	retries []*job // failed deletions, in the order of their retries
	backoff time.Duration
	due     time.Time
	// unknownAt is when the outcome of a value's write was last unknown: what was
	// sent may still arrive.
	unknownAt time.Time
}

// run ends once the queue is closed and the shard is empty.
func (w *writer) run() {
	for {
		if len(w.retries) > 0 && !time.Now().Before(w.due) {
			w.retry()
		}
		if j := w.tier.queue.pop(w.shard); j != nil {
			w.process(j)
			continue
		}
		if closed, _ := w.tier.queue.ended(); closed {
			w.retry() // for the last time
			w.drop(w.retries...)
			return
		}
		w.sleep()
	}
}

// sleep waits for a write, or until the retries are due.
func (w *writer) sleep() {
	var due <-chan time.Time
	if len(w.retries) > 0 {
		t := time.NewTimer(time.Until(w.due))
		defer t.Stop()
		due = t.C
	}
	select {
	case <-w.shard.wake:
	case <-due:
	}
}

func (w *writer) process(j *job) {
	_, discarded := w.tier.queue.ended()
	switch {
	case discarded || !j.deletion() && time.Since(j.at) > maxAge:
		w.drop(j)
	case j.deletion():
		w.delete(j)
	default:
		w.write(j)
	}
}

// delete carries out a deletion, and keeps it for a retry if it failed. After a
// write whose outcome is unknown, deletions are made twice: a value under way in a
// broken connection may arrive after the first.
func (w *writer) delete(j *job) {
	w.doneRetry(j) // an earlier one to the same effect
	err := w.tier.delete(j)
	if err == nil && (j.kind == releasing || time.Since(w.unknownAt) > 2*lastRetry) {
		w.tier.queue.done(w.shard, j)
		return
	}
	if len(w.retries) == 0 {
		w.backoff = firstRetry
		if err == nil {
			w.backoff = lastRetry
		}
		w.due = time.Now().Add(jitter.Around(w.backoff, spread))
	}
	w.retries = append(w.retries, j)
}

// write writes a value, after the deletion of its key if that is to be retried:
// the retry would delete the newer value.
func (w *writer) write(j *job) {
	deletion := &job{kind: deleting, key: j.key}
	if slices.ContainsFunc(w.retries, deletion.same) {
		if w.tier.delete(deletion) != nil {
			w.drop(j)
			return
		}
		w.doneRetry(deletion)
	}
	err := w.tier.writes.call(func() error { return w.tier.put(j) })
	w.tier.wrote(err)
	w.tier.queue.done(w.shard, j)
	if err == nil {
		w.tier.publish(j.announcement)
	}
	if err != nil && !isReply(err) && !rejected(err) {
		w.unknownAt = time.Now()
	}
}

// doneRetry ends the retry of the same deletion.
func (w *writer) doneRetry(deletion *job) {
	w.retries = slices.DeleteFunc(w.retries, func(j *job) bool {
		if j.same(deletion) {
			w.tier.queue.done(w.shard, j)
		}
		return j.same(deletion)
	})
}

func (w *writer) drop(jobs ...*job) {
	for _, j := range jobs {
		w.tier.metrics.dropped.Inc()
		w.tier.queue.done(w.shard, j)
	}
}

// retry tries the failed deletions again, and puts those that fail again behind
// the rest.
func (w *writer) retry() {
	var failed []*job
	for len(w.retries) > 0 && len(failed) < maxFailedPerRound {
		j := w.retries[0]
		w.retries = w.retries[1:]
		switch _, discarded := w.tier.queue.ended(); {
		case discarded || j.kind == releasing && time.Since(j.at) > j.ttl:
			w.drop(j)
		case w.tier.delete(j) != nil:
			failed = append(failed, j)
		default:
			w.tier.queue.done(w.shard, j)
		}
	}
	w.retries = append(w.retries, failed...)
	w.backoff = min(2*w.backoff, lastRetry)
	if len(failed) == 0 {
		w.backoff = firstRetry
	}
	w.due = time.Now().Add(jitter.Around(w.backoff, spread))
}

// delete deletes a value or releases a lease.
func (t *Tier) delete(j *job) error {
	err := t.writes.callAlways(func() error {
		ctx, cancel := t.writeBudget()
		defer cancel()
		if j.kind == releasing {
			return t.release(ctx, j)
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
		return nil // there is a value
	}
	return err
}

// writeBudget begins a write's time.
func (t *Tier) writeBudget() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), t.writeTime)
}

func (t *Tier) wrote(err error) {
	t.metrics.wrote(err)
	if err != nil {
		t.log.Debug("redis write failed", "error", err)
	}
}
