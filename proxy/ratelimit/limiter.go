// Package ratelimit limits each client to a rate and a burst. It promises to decide
// at once, from memory that is bounded, and to forget no client that is over its
// limit, not even in a flood of addresses. Each instance of a fleet limits for itself.
package ratelimit

import (
	"hash/maphash"
	"math"
	"net/netip"
	"sync"
	"time"

	"sundry/cache/clients"
)

// defaultBurst is how many seconds of the rate the default burst is.
const defaultBurst = 4

// lowDivisor: an allowance is low once less than one lowDivisor-th of the client's
// burst remains.
const lowDivisor = 4

// Sizes of the table of clients: 5 MiB of address space, of which memory is used
// as it fills.
const (
	limiterShards = 64
	shardBuckets  = 512
	bucketWays    = 8 // two cache lines
)

// Limiter limits each client to a rate and a burst (GCRA, the generic cell rate
// algorithm) in bounded memory. All that is stored of a client is the time at
// which its burst is restored; after that its slot is free. Where a bucket is full
// all the same, as in a flood of addresses, the client that has used least of its
// burst is evicted: rather one that made a single request than one that is being
// refused. It is safe for concurrent use. A nil Limiter allows everything.
type Limiter struct {
	epoch    time.Time
	interval int64 // nanoseconds until one more request is allowed
	burst    int64 // nanoseconds that may be used up: the burst's intervals
	seed     maphash.Seed
	shards   [limiterShards]shard
}

type shard struct {
	mu      sync.Mutex
	buckets [shardBuckets][bucketWays]slot
}

// slot is free once full has passed.
type slot struct {
	client clients.ID
	full   int64 // when the burst is restored, in nanoseconds after the epoch
}

// Allowance is the limiter's answer for one request.
type Allowance struct {
	OK        bool
	Low       bool          // little or nothing of the burst remains
	Remaining int64         // requests that may be made at once
	Next      time.Duration // until one more may be made
}

// New returns a limiter for rate requests per second and client, and burst at once;
// nil for a rate of 0, which is no limit. A burst of 0 means four seconds of the
// rate.
func New(rate float64, burst int) *Limiter {
	if rate <= 0 {
		return nil
	}
	n := int64(burst)
	if n <= 0 {
		n = max(1, int64(defaultBurst*rate))
	}
	interval := max(1, int64(float64(time.Second)/rate))
	return &Limiter{epoch: time.Now(), interval: interval, burst: min(n, math.MaxInt64/4/interval) * interval, seed: maphash.MakeSeed()}
}

// Burst returns how many requests a client may make at once, and the time in which a
// used-up burst is restored.
func (l *Limiter) Burst() (requests int64, restored time.Duration) {
	return l.burst / l.interval, time.Duration(l.burst)
}

// Allow counts a request at now, unless the client is over its limit.
func (l *Limiter) Allow(from netip.Addr, now time.Time) Allowance {
	return l.AllowClient(clients.Of(from), now)
}

// AllowClient is Allow for a client whose address was read before.
func (l *Limiter) AllowClient(who clients.ID, now time.Time) Allowance {
	return l.answer(who, now, true)
}

// Ask is what Allow would answer. It counts nothing.
func (l *Limiter) Ask(from netip.Addr, now time.Time) Allowance {
	return l.answer(clients.Of(from), now, false)
}

func (l *Limiter) answer(who clients.ID, now time.Time, counted bool) Allowance {
	if l == nil {
		return Allowance{OK: true}
	}
	t := l.at(now)
	s, b := l.place(who)
	s.mu.Lock()
	defer s.mu.Unlock()
	way, known := find(&s.buckets[b], who)
	full := t
	if known {
		full = max(t, s.buckets[b][way].full)
	}
	if full += l.interval; full-t > l.burst {
		return Allowance{Low: true, Next: time.Duration(full - t - l.burst)}
	}
	if counted {
		s.buckets[b][way] = slot{who, full}
	}
	return l.allowance(full - t)
}

// allowance is the answer for a client that has used so many nanoseconds of its
// burst.
func (l *Limiter) allowance(used int64) Allowance {
	remaining := (l.burst - used) / l.interval
	return Allowance{OK: true, Low: (l.burst-used)*lowDivisor < l.burst, Remaining: remaining, Next: time.Duration(used - (used-1)/l.interval*l.interval)}
}

func (l *Limiter) at(now time.Time) int64 { return int64(now.Sub(l.epoch)) }

// place returns the shard and the number of the bucket where a client is stored.
func (l *Limiter) place(who clients.ID) (*shard, int) {
	hash := maphash.Comparable(l.seed, who)
	return &l.shards[hash%limiterShards], int(hash / limiterShards % shardBuckets)
}

// find returns the client's slot, or the one to evict for it: the one that is free
// or will be free first.
func find(bucket *[bucketWays]slot, who clients.ID) (way int, known bool) {
	for i := range bucket {
		switch {
		case bucket[i].client == who:
			return i, true
		case bucket[i].full < bucket[way].full:
			way = i
		}
	}
	return way, false
}

// Clients returns how many clients are stored: those whose burst is not restored.
func (l *Limiter) Clients(now time.Time) int {
	if l == nil {
		return 0
	}
	n, t := 0, l.at(now)
	for i := range l.shards {
		n += l.shards[i].clients(t)
	}
	return n
}

func (s *shard) clients(t int64) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.buckets {
		for j := range s.buckets[i] {
			if s.buckets[i][j].full > t {
				n++
			}
		}
	}
	return n
}
