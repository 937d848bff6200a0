package proxy

import (
	"hash/maphash"
	"math"
	"net/netip"
	"sync"
	"time"
)

// Sizes of the table of clients: 4 MiB, taken as it fills.
const (
	clientShards  = 64
	clientBuckets = 512 // of a shard
	clientWays    = 8   // of a bucket: two cache lines
)

// clients holds each client to a rate and a burst (generic cell rate algorithm).
// What is known of one is the time at which it has all of its burst back; after
// that, nothing need be known, and its place is free. So a flood of addresses
// takes no more room than the rate leaves time for, and where a bucket is full all
// the same, the client that has used least is forgotten: never one that is
// refused, for those that came once. nil allows everything.
type clients struct {
	seed     maphash.Seed
	epoch    time.Time
	interval int64 // nanoseconds until one more request is allowed
	burst    int64 // nanoseconds that may be used up: the burst's intervals
	policy   []string
	shards   [clientShards]clientShard
}

type clientShard struct {
	mu      sync.Mutex
	buckets [clientBuckets][clientWays]client
}

// client is free where full has passed.
type client struct {
	key  uint64
	full int64 // nanoseconds after the epoch
}

// allowance is what a client may do.
type allowance struct {
	ok   bool
	low  bool          // little is left of it, or nothing
	left int64         // requests at once
	more time.Duration // until there is one more
}

// newClients returns nil without a rate.
func newClients(l Limits) *clients {
	if l.Rate <= 0 {
		return nil
	}
	burst := int64(l.Burst)
	if burst <= 0 {
		burst = max(1, int64(burstOfRate*l.Rate))
	}
	interval := max(1, int64(float64(time.Second)/l.Rate))
	burst = min(burst, math.MaxInt64/4/interval)
	return &clients{
		seed: maphash.MakeSeed(), epoch: time.Now(), interval: interval, burst: burst * interval,
		policy: []string{ratePolicy(burst, time.Duration(burst*interval))},
	}
}

// keyOf tells clients apart: IPv6 by the /64, because a single one has that
// many addresses. IPv4 has its keys in a range that is no network's.
func keyOf(a netip.Addr) uint64 {
	b := a.As16()
	if a.Is4() || a.Is4In6() {
		return 0xffff<<32 | uint64(b[12])<<24 | uint64(b[13])<<16 | uint64(b[14])<<8 | uint64(b[15])
	}
	var key uint64
	for _, o := range b[:8] {
		key = key<<8 | uint64(o)
	}
	return key
}

// allow counts a request at now, unless the client has made too many.
func (c *clients) allow(who netip.Addr, now time.Time) allowance {
	if c == nil {
		return allowance{ok: true}
	}
	key, t := keyOf(who), int64(now.Sub(c.epoch))
	h := maphash.Comparable(c.seed, key)
	shard := &c.shards[h%clientShards]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	slot := find(&shard.buckets[h/clientShards%clientBuckets], key)
	full := t
	if slot.key == key {
		full = max(t, slot.full)
	}
	if full += c.interval; full-t > c.burst {
		return allowance{low: true, more: time.Duration(full - t - c.burst)}
	}
	*slot = client{key, full}
	return c.remains(full - t)
}

// remains is the allowance of a client that has used up so many nanoseconds.
func (c *clients) remains(used int64) allowance {
	left := (c.burst - used) / c.interval
	return allowance{ok: true, low: (c.burst-used)*lowShare < c.burst, left: left, more: time.Duration(used - (used-1)/c.interval*c.interval)}
}

// find is the key's slot, or the one that is given up for it: of all, the one
// that is free, or will be first.
func find(bucket *[clientWays]client, key uint64) *client {
	slot := &bucket[0]
	for i := range bucket {
		switch {
		case bucket[i].key == key:
			return &bucket[i]
		case bucket[i].full < slot.full:
			slot = &bucket[i]
		}
	}
	return slot
}

// count is how many have not all of their burst back.
func (c *clients) count(now time.Time) int {
	if c == nil {
		return 0
	}
	n, t := 0, int64(now.Sub(c.epoch))
	for i := range c.shards {
		n += c.shards[i].count(t)
	}
	return n
}

func (s *clientShard) count(t int64) (n int) {
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
