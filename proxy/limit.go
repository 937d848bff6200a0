package proxy

import (
	"net/netip"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"

	"sundry/upstreams"
)

// Limits of admission. Zero values switch a limit off, but for InFlight.
type Limits struct {
	// Rate of requests a second that one client may make in the long run.
	Rate float64
	// Burst is how many it may make at once; 0 means twice the rate.
	Burst int
	// InFlight requests that wait for an answer at once, of all clients; 0 means
	// 10,000. What the near tier has is served beside them.
	InFlight int64
	// Share of InFlight that one endpoint may take, above 0 and at most 1; 0
	// means a half. See admission.
	Share float64
}

// Settings are what may change while it serves, beside the catalog.
type Settings struct {
	// Trusted are the proxies whose word on the caller's address counts.
	Trusted []netip.Prefix
	Limits  Limits
	// HitSample logs one of so many hits; 0 means 100, 1 all of them.
	HitSample uint64
	// Mark of requests that this service sent; "": they bear none.
	Mark upstreams.LoopMark
}

// rules are settings made ready.
type rules struct {
	Settings
	limiter *limiter
}

// newRules takes over from those before what clients have used of their rate,
// where that is the same.
func newRules(settings Settings, before *rules) *rules {
	if settings.Limits.InFlight == 0 {
		settings.Limits.InFlight = 10_000
	}
	if settings.Limits.Share == 0 {
		settings.Limits.Share = 0.5
	}
	if settings.HitSample == 0 {
		settings.HitSample = 100
	}
	r := &rules{Settings: settings}
	if l := settings.Limits; before != nil && l.Rate == before.Limits.Rate && l.Burst == before.Limits.Burst {
		r.limiter = before.limiter
	} else {
		r.limiter = newLimiter(l)
	}
	return r
}

// maxClients bounds the limiter's memory; the least recently seen client is
// forgotten first.
const maxClients = 50_000

// limiter is a token bucket per client address; IPv6 clients are told apart by
// their /64, because a single one has that many.
type limiter struct {
	mu    sync.Mutex
	lru   *lru.LRU[netip.Addr, *rate.Limiter]
	rate  rate.Limit
	burst int
}

// newLimiter returns nil, which allows everything, without a rate.
func newLimiter(l Limits) *limiter {
	if l.Rate <= 0 {
		return nil
	}
	if l.Burst <= 0 {
		l.Burst = max(1, int(2*l.Rate))
	}
	clients, err := lru.NewLRU[netip.Addr, *rate.Limiter](maxClients, nil)
	if err != nil {
		panic(err) // only a size below one is refused
	}
	return &limiter{lru: clients, rate: rate.Limit(l.Rate), burst: l.Burst}
}

// allow takes a token, or tells how long until there is one.
func (l *limiter) allow(client netip.Addr, now time.Time) (wait time.Duration, ok bool) {
	if l == nil {
		return 0, true
	}
	if client.Is6() {
		if p, err := client.Prefix(64); err == nil {
			client = p.Addr()
		}
	}
	l.mu.Lock()
	bucket, found := l.lru.Get(client)
	if !found {
		bucket = rate.NewLimiter(l.rate, l.burst)
		l.lru.Add(client, bucket)
	}
	l.mu.Unlock()
	res := bucket.ReserveN(now, 1)
	if wait = res.DelayFrom(now); wait > 0 {
		res.CancelAt(now)
		return wait, false
	}
	return 0, true
}

// clients is how many are remembered.
func (l *limiter) clients() int {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lru.Len()
}
