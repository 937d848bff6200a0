package far

import (
	"hash/maphash"
	"slices"
	"sync"
	"time"
)

// kind of a write.
type kind uint8

const (
	setting kind = iota
	adding
	deleting
	releasing
)

// job is one write.
type job struct {
	kind  kind
	of    string // the key that the write is about: one lane for all of its writes
	key   string // the key in Redis
	value []byte
	token string // of the lease to release
	ttl   time.Duration
	at    time.Time
}

// order tells of a write that is small and must arrive, a deletion or a
// release, in contrast to a value, which may get lost.
func (j *job) order() bool { return j.kind == deleting || j.kind == releasing }

// same tells whether two orders have the same effect.
func (j *job) same(k *job) bool { return j.kind == k.kind && j.key == k.key && j.token == k.token }

// lanes are worked off side by side, so that one large value does not hold up
// all; within a lane writes keep their order.
const lanes = 4

// maxOrders bounds the orders of each lane, those that are tried again
// included: their room is their own, values do not take it.
const maxOrders = 4096

// queue bounds the writes that wait: values in number and in bytes, orders in
// number.
type queue struct {
	seed  maphash.Seed
	lanes [lanes]lane

	mu        sync.Mutex
	slots     int
	limit     int64
	values    int
	bytes     int64
	orders    int
	closed    bool
	discarded bool
}

// lane is the writes of some of the keys, in their order. The queue's mutex
// guards it.
type lane struct {
	jobs   []*job
	of     map[string]int // how many of them each key has
	orders int            // those that are not carried out yet
	wake   chan struct{}  // holds one word: there is something new
}

func newQueue(slots int, limit int64) *queue {
	q := &queue{seed: maphash.MakeSeed(), slots: slots, limit: limit}
	for i := range q.lanes {
		q.lanes[i].wake, q.lanes[i].of = make(chan struct{}, 1), map[string]int{}
	}
	return q
}

// push never blocks; false means that there is no room, or the queue is closed.
func (q *queue) push(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := &q.lanes[maphash.String(q.seed, j.of)%lanes]
	switch {
	case q.closed:
		return false
	case j.kind == deleting:
		q.void(l, j.key)
		fallthrough
	case j.kind == releasing:
		if l.orders >= maxOrders {
			return false
		}
		l.orders++
		q.orders++
	case q.values >= q.slots || q.bytes+int64(len(j.value)) > q.limit:
		return false
	default:
		q.values++
		q.bytes += int64(len(j.value))
	}
	l.jobs = append(l.jobs, j)
	l.of[j.key]++
	l.rouse()
	return true
}

// void takes out what the deletion of a key leaves pointless.
func (q *queue) void(l *lane, key string) {
	if l.of[key] == 0 {
		return
	}
	delete(l.of, key)
	l.jobs = slices.DeleteFunc(l.jobs, func(j *job) bool {
		if j.key == key {
			q.leave(l, j)
		}
		return j.key == key
	})
}

// leave takes a write out of the accounts.
func (q *queue) leave(l *lane, j *job) {
	if j.order() {
		l.orders--
		q.orders--
		return
	}
	q.values--
	q.bytes -= int64(len(j.value))
}

// pop takes the next write of a lane; nil when there is none. It stays in the
// accounts until it is settled.
func (q *queue) pop(l *lane) *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(l.jobs) == 0 {
		l.jobs = nil // and the room behind them
		return nil
	}
	j := l.jobs[0]
	l.jobs[0] = nil
	l.jobs = l.jobs[1:]
	if l.of[j.key]--; l.of[j.key] == 0 {
		delete(l.of, j.key)
	}
	return j
}

// settle ends a write: it was carried out, or is given up.
func (q *queue) settle(l *lane, j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.leave(l, j)
}

// waiting counts all that is not written yet, and of that the orders.
func (q *queue) waiting() (all, orders int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.values + q.orders, q.orders
}

// ended tells that nothing new comes, and whether what waits is given up.
func (q *queue) ended() (closed, discarded bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed, q.discarded
}

// close takes nothing more. What waits is still written.
func (q *queue) close() { q.end(false) }

// discard gives up what waits.
func (q *queue) discard() { q.end(true) }

func (q *queue) end(discard bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.discarded = q.discarded || discard
	for i := range q.lanes {
		q.lanes[i].rouse()
	}
}

func (l *lane) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}
