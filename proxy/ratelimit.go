package proxy

import (
	"hash/maphash"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"
)

// burstOfRate is the burst, in seconds of the rate, where none is set.
const burstOfRate = 4

// lowShare of its burst, as a divisor, is little: who has less left is told so
// with every answer. All others get along without two more headers.
const lowShare = 4

// keep holds the caller to the rate of one client. A trusted proxy that asks for
// itself, to see whether all is well, is not: nor is one that does not say for
// whom it asks, as that would be held against all who come through it.
func (s *Server) keep(x *exchange) *failure {
	rules := x.route.rules
	a := rules.clients.allow(x.caller, x.start)
	if a.ok {
		if a.low {
			rules.clients.tell(x.w.Header(), &a)
		}
		return nil
	}
	if isTrusted(x.caller, rules.Trusted) {
		return nil
	}
	rules.clients.tell(x.w.Header(), &a)
	s.metrics.limited.Inc()
	s.suspect(x)
	return limited(a.more)
}

// suspect tells the operator, once, of what looks like a proxy that is not in
// trusted_proxies: all who come through it count as one client.
func (s *Server) suspect(x *exchange) {
	if !x.caller.IsPrivate() && !x.caller.IsLoopback() {
		return
	}
	if x.r.Header["X-Forwarded-For"] == nil && x.r.Header["Forwarded"] == nil {
		return
	}
	if x.route.rules.suspected.CompareAndSwap(false, true) {
		s.cfg.Log.Warn("requests are refused that come through what looks like a proxy: all of its callers count as one client unless it is in trusted_proxies",
			"proxy", x.caller)
	}
}

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

// ratePolicy is the value of RateLimit-Policy: so many requests in the time in
// which a client that used them up has them back.
func ratePolicy(burst int64, window time.Duration) string {
	b := strconv.AppendInt([]byte(`"default";q=`), burst, 10)
	return string(strconv.AppendInt(append(b, ";w="...), upSeconds(window), 10))
}

// tell sets RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers
// from -08 on): r requests are left at once, and in t seconds there is one more.
func (c *clients) tell(h http.Header, a *allowance) {
	var room [48]byte
	b := strconv.AppendInt(append(room[:0], `"default";r=`...), a.left, 10)
	b = strconv.AppendInt(append(b, ";t="...), upSeconds(a.more), 10)
	h["Ratelimit"], h["Ratelimit-Policy"] = []string{string(b)}, c.policy
}

// upSeconds rounds up, and never to none.
func upSeconds(d time.Duration) int64 { return max(1, int64((d+time.Second-1)/time.Second)) }
