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
	writing kind = iota // an entry
	failing             // the record of a failed fill
	deleting
	releasing
	marking // what of the key was there before is gone
)

// job is one write.
type job struct {
	kind     kind
	cacheKey string // as the cache knows it: all writes of one key are in one shard
	key      string // the key in Redis
	size     int    // in bytes, of what the job holds
	at       time.Time
	failures int  // how often it alone could not be sent
	tried    bool // it could not be sent, or its outcome is unknown
	repeated bool // a deletion that was carried out once already
	// value is what is written, with ttl: of an entry it is made by make when it is first
	// sent, and has a head then.
	value       []byte
	ttl         time.Duration
	make        func() ([]byte, time.Duration)
	created     time.Time // of the entry; of a deletion, up to when
	replaceable bool
	lasting     bool               // a mark is stored for ttl even if the key had no value
	purged      func(at time.Time) // is called with the time of the key's mark; nil means that it is not needed
	token       string
	// release is that of the key's lease, which goes along with the write of an entry.
	release *job
}

// deletion reports whether the write deletes a value or, as a release, a lease, or marks what is gone. It
// is small and must arrive; values may be dropped.
func (j *job) deletion() bool { return j.kind >= deleting }

// same reports whether a deletion has no effect before or behind k.
func (j *job) same(k *job) bool {
	return j.kind == k.kind && j.key == k.key && j.token == k.token && !j.created.After(k.created)
}

// needless reports whether a deletion of its key makes the write needless.
func (j *job) needless(deletion *job) bool {
	return j.key == deletion.key && !j.created.After(deletion.created)
}

// shardCount is how many shards are written concurrently, so that one large value
// does not delay all writes; within a shard writes keep their order.
const shardCount = 4

// maxDeletions bounds the deletions of each shard, those to be retried included.
// Values do not count towards it. Callers can make marks, so these leave half of it to others, and take a quarter of the bytes at most.
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
	marks     int64 // in bytes
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

// push never blocks. Where the queue is full of values, the oldest make room: how many
// writes were dropped is returned, this one included if it is closed or there is no room.
func (q *queue) push(j *job) (dropped int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := &q.shards[maphash.String(q.seed, j.cacheKey)%shardCount]
	if q.closed || int64(j.size) > q.maxBytes {
		return 1
	}
	if j.kind == deleting || j.kind == marking {
		q.removeWrites(s, j)
	}
	if j.deletion() && s.deletions >= maxDeletions || j.kind == marking && (s.deletions >= maxDeletions/2 || q.marks+int64(j.size) > q.maxBytes/4) {
		return 1
	}
	for !j.deletion() && (q.values >= q.maxValues || q.bytes+int64(j.size) > q.maxBytes) {
		if dropped++; !q.dropOldest() {
			return dropped // all are being written
		}
	}
	q.count(s, j, 1)
	s.jobs = append(s.jobs, j)
	s.queued[j.key]++
	s.signal()
	return dropped
}

// dropOldest drops the value that has waited for longest; false when none waits.
func (q *queue) dropOldest() bool {
	var s *shard
	first := 0
	for i := range q.shards {
		other := &q.shards[i]
		n := slices.IndexFunc(other.jobs, func(j *job) bool { return !j.deletion() })
		if n >= 0 && (s == nil || other.jobs[n].at.Before(s.jobs[first].at)) {
			s, first = other, n
		}
	}
	if s == nil {
		return false
	}
	j := s.jobs[first]
	copy(s.jobs[1:first+1], s.jobs[:first]) // few: deletions
	q.leave(s)
	s.unqueue(j)
	q.count(s, j, -1)
	return true
}

// leave removes the first of a shard's writes from its list.
func (q *queue) leave(s *shard) {
	s.jobs[0] = nil
	if s.jobs = s.jobs[1:]; len(s.jobs) == 0 {
		s.jobs = nil // frees the memory behind them
	}
}

// unqueue ends the mention of a key.
func (s *shard) unqueue(j *job) {
	if s.queued[j.key]--; s.queued[j.key] == 0 {
		delete(s.queued, j.key)
	}
}

// removeWrites removes the writes of a key that a deletion makes needless.
func (q *queue) removeWrites(s *shard, deletion *job) {
	if s.queued[deletion.key] == 0 {
		return
	}
	s.jobs = slices.DeleteFunc(s.jobs, func(j *job) bool {
		needless := j.needless(deletion)
		if needless {
			s.unqueue(j)
			q.count(s, j, -1)
		}
		return needless
	})
}

// count adds or takes away a write.
func (q *queue) count(s *shard, j *job, n int) {
	if j.deletion() {
		s.deletions += n
		q.deletions += n
		q.marks += int64(n * j.size) // others have none
		return
	}
	q.values += n
	q.bytes += int64(n * j.size)
}

// Bounds of a pipeline.
const (
	maxPipeline      = 256
	maxPipelineBytes = 1 << 20
)

// take takes the next writes of a shard, at most that many and maxPipelineBytes, but one
// of any size. They count as waiting until done or putBack is called.
func (q *queue) take(s *shard, most int) []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	var taken []*job
	for bytes := 0; len(s.jobs) > 0 && len(taken) < most; {
		j := s.jobs[0]
		if bytes += j.size; bytes > maxPipelineBytes && len(taken) > 0 {
			break
		}
		taken = append(taken, j)
		s.unqueue(j)
		q.leave(s)
	}
	return taken
}

// putBack puts writes that could not be sent in front of the others, or behind them. None
// gets behind a deletion that makes it needless.
func (q *queue) putBack(s *shard, jobs []*job, behind bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if behind {
		jobs = q.withoutNeedless(s, jobs)
		s.jobs = slices.Concat(s.jobs, jobs)
	} else {
		s.jobs = slices.Concat(jobs, s.jobs)
	}
	for _, j := range jobs {
		s.queued[j.key]++
	}
}

// withoutNeedless ends the writes that a deletion which waits makes needless.
func (q *queue) withoutNeedless(s *shard, jobs []*job) []*job {
	for _, deletion := range s.jobs {
		if deletion.kind == deleting {
			jobs = slices.DeleteFunc(jobs, func(j *job) bool {
				needless := j.needless(deletion)
				if needless {
					q.count(s, j, -1)
				}
				return needless
			})
		}
	}
	return jobs
}

// done ends a write that was carried out or dropped.
func (q *queue) done(s *shard, j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.count(s, j, -1)
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
