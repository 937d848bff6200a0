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
	// announcement is published once the value is written; "" for none.
	announcement string
	ttl          time.Duration
	at           time.Time
}

// deletion reports whether the write deletes a value or, as a release, a lease. It
// is small and must arrive; values may be dropped.
func (j *job) deletion() bool { return j.kind == deleting || j.kind == releasing }

// same reports whether two deletions have the same effect.
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
	maxValues int
	maxBytes  int64
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

func newQueue(maxValues int, maxBytes int64) *queue {
	q := &queue{seed: maphash.MakeSeed(), maxValues: maxValues, maxBytes: maxBytes}
	for i := range q.shards {
		q.shards[i].wake, q.shards[i].queued = make(chan struct{}, 1), map[string]int{}
	}
	return q
}

// push never blocks; false means that the queue is full or closed.
func (q *queue) push(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := &q.shards[maphash.String(q.seed, j.cacheKey)%shardCount]
	switch {
	case q.closed:
		return false
	case j.kind == deleting:
		q.removeWrites(s, j.key)
		fallthrough
	case j.kind == releasing:
		if s.deletions >= maxDeletions {
			return false
		}
		s.deletions++
		q.deletions++
	case q.values >= q.maxValues || q.bytes+int64(len(j.value)) > q.maxBytes:
		return false
	default:
		q.values++
		q.bytes += int64(len(j.value))
	}
	s.jobs = append(s.jobs, j)
	s.queued[j.key]++
	s.signal()
	return true
}

// removeWrites removes the writes of a key that is going to be deleted.
func (q *queue) removeWrites(s *shard, key string) {
	if s.queued[key] == 0 {
		return
	}
	delete(s.queued, key)
	s.jobs = slices.DeleteFunc(s.jobs, func(j *job) bool {
		if j.key == key {
			q.uncount(s, j)
		}
		return j.key == key
	})
}

// uncount ends the counting of a write.
func (q *queue) uncount(s *shard, j *job) {
	if j.deletion() {
		s.deletions--
		q.deletions--
		return
	}
	q.values--
	q.bytes -= int64(len(j.value))
}

// pop takes the next write of a shard; nil when there is none. The write counts as
// waiting until done is called.
func (q *queue) pop(s *shard) *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(s.jobs) == 0 {
		s.jobs = nil // frees the memory behind them
		return nil
	}
	j := s.jobs[0]
	s.jobs[0] = nil
	s.jobs = s.jobs[1:]
	if s.queued[j.key]--; s.queued[j.key] == 0 {
		delete(s.queued, j.key)
	}
	return j
}

// done ends a write that was carried out or dropped.
func (q *queue) done(s *shard, j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.uncount(s, j)
}

// waiting counts the writes that are not done yet, and the deletions among them.
func (q *queue) waiting() (all, deletions int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.values + q.deletions, q.deletions
}

// ended reports whether the queue is closed, and whether waiting writes are dropped.
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

func (s *shard) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
