package far

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// maxWait is how old a write may get in the queue: later it would only keep
// newer ones waiting.
const maxWait = 5 * time.Second

// job is one write: a value with its ttl, a lease to release (token), or a
// deletion.
type job struct {
	key   string
	value []byte
	ttl   time.Duration
	token string
	at    time.Time
}

// queue bounds the writes that wait, in number and in bytes.
type queue struct {
	jobs    chan job
	bytes   atomic.Int64
	limit   int64
	closing chan struct{}
	drop    atomic.Bool
}

func newQueue(slots int, limit int64) *queue {
	return &queue{jobs: make(chan job, slots), limit: limit, closing: make(chan struct{})}
}

// push never blocks; false means that the queue is full or closed.
func (q *queue) push(j job) bool {
	select {
	case <-q.closing:
		return false
	default:
	}
	size := int64(len(j.value))
	if q.bytes.Add(size) > q.limit {
		q.bytes.Add(-size)
		return false
	}
	select {
	case q.jobs <- j:
		return true
	default:
		q.bytes.Add(-size)
		return false
	}
}

// pop waits for a write; false once the queue is closed and empty.
func (q *queue) pop() (job, bool) {
	select {
	case j := <-q.jobs:
		q.bytes.Add(-int64(len(j.value)))
		return j, true
	case <-q.closing:
	}
	select {
	case j := <-q.jobs:
		q.bytes.Add(-int64(len(j.value)))
		return j, !q.drop.Load()
	default:
		return job{}, false
	}
}

func (q *queue) close()   { close(q.closing) }
func (q *queue) discard() { q.drop.Store(true) }

// write is a worker: it takes writes until the queue is closed and empty.
func (t *Tier) write() {
	for {
		j, ok := t.queue.pop()
		if !ok {
			return
		}
		if time.Since(j.at) > maxWait {
			t.seen.dropped.Inc()
			continue
		}
		_, err := t.breaker.Execute(func() ([]byte, error) { return nil, t.do(j) })
		t.seen.wrote(err)
		if err != nil {
			t.log.Debug("redis write failed", "error", err)
		}
	}
}

// do carries out one write within a budget of its own: nobody waits for it, so
// it may take longer than a read.
func (t *Tier) do(j job) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*t.cfg.Timeout)
	defer cancel()
	switch {
	case j.token != "":
		return t.client.Eval(ctx, releaseScript, []string{j.key}, j.token).Err()
	case j.value == nil:
		return t.client.Del(ctx, j.key).Err()
	}
	return t.client.Set(ctx, j.key, j.value, j.ttl).Err()
}

// spread keeps instances from probing together: up to a fifth more or less.
func spread(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}
