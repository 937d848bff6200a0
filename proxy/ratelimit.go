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

// defaultBurstSeconds is how many seconds of the rate the default burst is.
const defaultBurstSeconds = 4

// lowDivisor: answers have the RateLimit headers once less than one lowDivisor-th of
// the client's burst remains. All others do without the two.
const lowDivisor = 4

// limitRate refuses a client that is over its rate. A trusted proxy is not
// limited itself: it asks on its own behalf (a health check), or does not name the
// client, and then the limit would hit all clients behind it.
func (s *Server) limitRate(req *request) *failure {
	settings := req.route.settings
	a := settings.limiter.allow(req.caller, req.start)
	if a.ok {
		req.allowed = a
		return nil
	}
	if isTrusted(req.caller, settings.Trusted) {
		return nil
	}
	req.allowed = a
	s.metrics.limited.Inc()
	s.warnOfProxy(req)
	return limited(a.next)
}

// warnOfProxy logs a warning, once per reload, when what is limited looks like a
// proxy that is missing in trusted_proxies.
func (s *Server) warnOfProxy(req *request) {
	if !req.caller.IsPrivate() && !req.caller.IsLoopback() {
		return
	}
	if req.r.Header["X-Forwarded-For"] == nil && req.r.Header["Forwarded"] == nil {
		return
	}
	if req.route.settings.proxyWarned.CompareAndSwap(false, true) {
		s.cfg.Log.Warn("the rate limit refuses requests of what looks like a proxy: all clients behind it count as one unless it is listed in trusted_proxies",
			"proxy", req.caller)
	}
}

// Sizes of the table of clients: 4 MiB of address space, of which memory is used
// as it fills.
const (
	limiterShards  = 64
	limiterBuckets = 512 // per shard
	limiterWays    = 8   // per bucket: two cache lines
)

// rateLimiter limits each client to a rate and a burst (GCRA, the generic cell
// rate algorithm) in bounded memory. All that is stored of a client is the time at
// which its burst is restored; after that its slot is free. Where a bucket is full
// all the same, as in a flood of addresses, the client that has used least of its
// burst is evicted: rather one that made a single request than one that is being
// refused. A nil limiter allows everything.
type rateLimiter struct {
	seed     maphash.Seed
	epoch    time.Time
	interval int64  // nanoseconds until one more request is allowed
	burst    int64  // nanoseconds that may be used up: the burst's intervals
	policy   string // the value of RateLimit-Policy
	shards   [limiterShards]limiterShard
}

type limiterShard struct {
	mu      sync.Mutex
	buckets [limiterBuckets][limiterWays]clientSlot
}

// clientSlot is free once full has passed.
type clientSlot struct {
	key  uint64
	full int64 // when the burst is restored, in nanoseconds after the epoch
}

// allowance is the limiter's answer for one request.
type allowance struct {
	ok        bool
	low       bool          // little or nothing of the burst remains, see lowDivisor
	remaining int64         // requests that may be made at once
	next      time.Duration // until one more may be made
}

// newRateLimiter returns nil where there is no rate limit.
func newRateLimiter(limits Limits) *rateLimiter {
	if limits.Rate <= 0 {
		return nil
	}
	burst := int64(limits.Burst)
	if burst <= 0 {
		burst = max(1, int64(defaultBurstSeconds*limits.Rate))
	}
	interval := max(1, int64(float64(time.Second)/limits.Rate))
	burst = min(burst, math.MaxInt64/4/interval)
	return &rateLimiter{
		seed: maphash.MakeSeed(), epoch: time.Now(), interval: interval, burst: burst * interval,
		policy: ratePolicy(burst, time.Duration(burst*interval)),
	}
}

// keyOf identifies a client: an IPv4 address, or the /64 of an IPv6 address,
// because one subscriber has at least that many addresses. The keys of IPv4 are in
// a range that is not allocated in IPv6.
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

// allow counts a request at now, unless the client is over its limit.
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

// allowance is the answer for a client that has used so many nanoseconds of its
// burst.
func (l *rateLimiter) allowance(used int64) allowance {
	remaining := (l.burst - used) / l.interval
	return allowance{ok: true, low: (l.burst-used)*lowDivisor < l.burst, remaining: remaining, next: time.Duration(used - (used-1)/l.interval*l.interval)}
}

// findSlot returns the key's slot, or the one to evict for it: the one that is
// free or will be free first.
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

// count returns how many clients are stored: those whose burst is not restored.
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

// ratePolicy is the value of RateLimit-Policy: the burst, and the window in which a
// used-up burst is restored.
func ratePolicy(burst int64, window time.Duration) string {
	b := strconv.AppendInt([]byte(`"default";q=`), burst, 10)
	return string(strconv.AppendInt(append(b, ";w="...), ceilSeconds(window), 10))
}

// describe sets RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers
// from -08 on), where the allowance is low: r requests may be made at once, and in t
// seconds one more.
func (l *rateLimiter) describe(h *head, a *allowance) {
	if a.low {
		h.end(fieldRateLimit, a.appendTo(h.begin()))
		h.put(fieldRateLimitPolicy, l.policy)
	}
}

// setHeaders sets the two for an answer that is not from the cache.
func (l *rateLimiter) setHeaders(h http.Header, a *allowance) {
	var buf [64]byte
	v := []string{string(a.appendTo(buf[:0])), l.policy}
	h[fieldRateLimit.name()], h[fieldRateLimitPolicy.name()] = v[0:1:1], v[1:2:2]
}

func (a *allowance) appendTo(b []byte) []byte {
	b = strconv.AppendInt(append(b, `"default";r=`...), a.remaining, 10)
	return strconv.AppendInt(append(b, ";t="...), ceilSeconds(a.next), 10)
}

// ceilSeconds rounds up to whole seconds, at least one.
func ceilSeconds(d time.Duration) int64 { return max(1, int64((d+time.Second-1)/time.Second)) }
