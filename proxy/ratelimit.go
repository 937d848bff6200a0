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

// limitRate holds the caller to the rate of one client. A trusted proxy that asks for
// itself, to see whether all is well, is not: nor is one that does not say for
// whom it asks, as that would be held against all who come through it.
func (s *Server) limitRate(req *request) *failure {
	settings := req.route.settings
	a := settings.limiter.allow(req.caller, req.start)
	if a.ok {
		if a.low {
			settings.limiter.setHeaders(req.w.Header(), &a)
		}
		return nil
	}
	if isTrusted(req.caller, settings.Trusted) {
		return nil
	}
	settings.limiter.setHeaders(req.w.Header(), &a)
	s.metrics.limited.Inc()
	s.warnOfProxy(req)
	return limited(a.next)
}

// warnOfProxy tells the operator, once, of what looks like a proxy that is not in
// trusted_proxies: all who come through it count as one client.
func (s *Server) warnOfProxy(req *request) {
	if !req.caller.IsPrivate() && !req.caller.IsLoopback() {
		return
	}
	if req.r.Header["X-Forwarded-For"] == nil && req.r.Header["Forwarded"] == nil {
		return
	}
	if req.route.settings.proxyWarned.CompareAndSwap(false, true) {
		s.cfg.Log.Warn("requests are refused that come through what looks like a proxy: all of its callers count as one client unless it is in trusted_proxies",
			"proxy", req.caller)
	}
}

// Sizes of the table of clients: 4 MiB, taken as it fills.
const (
	limiterShards  = 64
	limiterBuckets = 512 // of a shard
	limiterWays    = 8   // of a bucket: two cache lines
)

// rateLimiter holds each client to a rate and a burst (generic cell rate algorithm).
// What is known of one is the time at which it has all of its burst back; after
// that, nothing need be known, and its place is free. So a flood of addresses
// takes no more room than the rate leaves time for, and where a bucket is full all
// the same, the client that has used least is forgotten: never one that is
// refused, for those that came once. nil allows everything.
type rateLimiter struct {
	seed     maphash.Seed
	epoch    time.Time
	interval int64 // nanoseconds until one more request is allowed
	burst    int64 // nanoseconds that may be used up: the burst's intervals
	policy   []string
	shards   [limiterShards]limiterShard
}

type limiterShard struct {
	mu      sync.Mutex
	buckets [limiterBuckets][limiterWays]clientSlot
}

// clientSlot is free where full has passed.
type clientSlot struct {
	key  uint64
	full int64 // nanoseconds after the epoch
}

// allowance is what a client may do.
type allowance struct {
	ok        bool
	low       bool          // little is left of it, or nothing
	remaining int64         // requests at once
	next      time.Duration // until there is one more
}

// newRateLimiter returns nil without a rate.
func newRateLimiter(limits Limits) *rateLimiter {
	if limits.Rate <= 0 {
		return nil
	}
	burst := int64(limits.Burst)
	if burst <= 0 {
		burst = max(1, int64(burstOfRate*limits.Rate))
	}
	interval := max(1, int64(float64(time.Second)/limits.Rate))
	burst = min(burst, math.MaxInt64/4/interval)
	return &rateLimiter{
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
func (l *rateLimiter) allow(who netip.Addr, now time.Time) allowance {
	if l == nil {
		return allowance{ok: true}
	}
	key, t := keyOf(who), int64(now.Sub(l.epoch))
	h := maphash.Comparable(l.seed, key)
	shard := &l.shards[h%limiterShards]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	slot := findSlot(&shard.buckets[h/limiterShards%limiterBuckets], key)
	full := t
	if slot.key == key {
		full = max(t, slot.full)
	}
	if full += l.interval; full-t > l.burst {
		return allowance{low: true, next: time.Duration(full - t - l.burst)}
	}
	*slot = clientSlot{key, full}
	return l.allowance(full - t)
}

// allowance is the allowance of a client that has used up so many nanoseconds.
func (l *rateLimiter) allowance(used int64) allowance {
	remaining := (l.burst - used) / l.interval
	return allowance{ok: true, low: (l.burst-used)*lowShare < l.burst, remaining: remaining, next: time.Duration(used - (used-1)/l.interval*l.interval)}
}

// findSlot is the key's slot, or the one that is given up for it: of all, the one
// that is free, or will be first.
func findSlot(bucket *[limiterWays]clientSlot, key uint64) *clientSlot {
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
func (l *rateLimiter) count(now time.Time) int {
	if l == nil {
		return 0
	}
	n, t := 0, int64(now.Sub(l.epoch))
	for i := range l.shards {
		n += l.shards[i].count(t)
	}
	return n
}

func (s *limiterShard) count(t int64) (n int) {
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
	return string(strconv.AppendInt(append(b, ";w="...), ceilSeconds(window), 10))
}

// setHeaders sets RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers
// from -08 on): r requests are left at once, and in t seconds there is one more.
func (l *rateLimiter) setHeaders(h http.Header, a *allowance) {
	var buf [48]byte
	b := strconv.AppendInt(append(buf[:0], `"default";r=`...), a.remaining, 10)
	b = strconv.AppendInt(append(b, ";t="...), ceilSeconds(a.next), 10)
	h["Ratelimit"], h["Ratelimit-Policy"] = []string{string(b)}, l.policy
}

// ceilSeconds rounds up, and never to none.
func ceilSeconds(d time.Duration) int64 { return max(1, int64((d+time.Second-1)/time.Second)) }
