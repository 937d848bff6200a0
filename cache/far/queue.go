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
	kind     kind
	cacheKey string // as the cache knows it: all writes of one key are in one shard
	key      string // the key in Redis
	value    []byte
	token    string // of the lease to release
	ttl      time.Duration
	at       time.Time
}

// deletion tells whether the write deletes a value or, as a release, a lease. It
// is small and must arrive; values may be dropped.
func (j *job) deletion() bool { return j.kind == deleting || j.kind == releasing }

// same tells whether two deletions have the same effect.
func (j *job) same(k *job) bool { return j.kind == k.kind && j.key == k.key && j.token == k.token }

// shardCount is how many shards are written concurrently, so that one large value
// does not delay all writes; within a shard writes keep their order.
const shardCount = 4

// maxDeletions bounds the deletions of each shard, those to be retried included.
// Values do not count towards it.
const maxDeletions = 4096

// queue bounds the waiting writes: values in number and in bytes, deletions in
// number.
type queue struct {
	seed   maphash.Seed
	shards [shardCount]shard

	mu        sync.Mutex
	slots     int
	limit     int64
	values    int
	bytes     int64
	deletions int
	closed    bool
	discarded bool
}

// shard is the queue of some of the keys' writes, in their order. Protected by the
// queue's mutex.
type shard struct {
	jobs      []*job
	queued    map[string]int // how many of the jobs each key has
	deletions int            // those that are not done yet
	wake      chan struct{}  // signals new jobs, or the end
}

func newQueue(slots int, limit int64) *queue {
	q := &queue{seed: maphash.MakeSeed(), slots: slots, limit: limit}
	for i := range q.shards {
		q.shards[i].wake, q.shards[i].queued = make(chan struct{}, 1), map[string]int{}
	}
	return q
}

// push never blocks; false means that the queue is full or closed.
func (q *queue) push(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := &q.shards[maphash.String(q.seed, j.cacheKey)%shardCount]
	switch {
	case q.closed:
		return false
	case j.kind == deleting:
		q.removeWrites(l, j.key)
		fallthrough
	case j.kind == releasing:
		if l.deletions >= maxDeletions {
			return false
		}
		l.deletions++
		q.deletions++
	case q.values >= q.slots || q.bytes+int64(len(j.value)) > q.limit:
		return false
	default:
		q.values++
		q.bytes += int64(len(j.value))
	}
	l.jobs = append(l.jobs, j)
	l.queued[j.key]++
	l.signal()
	return true
}

// removeWrites removes the writes of a key that is going to be deleted.
func (q *queue) removeWrites(l *shard, key string) {
	if l.queued[key] == 0 {
		return
	}
	delete(l.queued, key)
	l.jobs = slices.DeleteFunc(l.jobs, func(j *job) bool {
		if j.key == key {
			q.uncount(l, j)
		}
		return j.key == key
	})
}

// uncount ends the counting of a write.
func (q *queue) uncount(l *shard, j *job) {
	if j.deletion() {
		l.deletions--
		q.deletions--
		return
	}
	q.values--
	q.bytes -= int64(len(j.value))
}

// pop takes the next write of a shard; nil when there is none. It counts as
// waiting until it is done.
func (q *queue) pop(l *shard) *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(l.jobs) == 0 {
		l.jobs = nil // frees the memory behind them
		return nil
	}
	j := l.jobs[0]
	l.jobs[0] = nil
	l.jobs = l.jobs[1:]
	if l.queued[j.key]--; l.queued[j.key] == 0 {
		delete(l.queued, j.key)
	}
	return j
}

// done ends a write that was carried out or dropped.
func (q *queue) done(l *shard, j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.uncount(l, j)
}

// waiting counts the writes that are not done yet, and the deletions among them.
func (q *queue) waiting() (all, deletions int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.values + q.deletions, q.deletions
}

// ended tells whether the queue is closed, and whether waiting writes are dropped.
func (q *queue) ended() (closed, discarded bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed, q.discarded
}

// close ends the queue for new writes. Waiting ones are still written.
func (q *queue) close() { q.end(false) }

// discard drops the waiting writes.
func (q *queue) discard() { q.end(true) }

func (q *queue) end(discard bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.discarded = q.discarded || discard
	for i := range q.shards {
		q.shards[i].signal()
	}
}

func (l *shard) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}
