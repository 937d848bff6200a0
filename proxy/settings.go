package proxy

import (
	"net/netip"
	"sync/atomic"
	"time"

	"sundry/upstreams/loop"
)

// Limits of admission. A rate of zero switches that limit off.
type Limits struct {
	// Rate of requests a second that one client may make in the long run.
	Rate float64
	// Burst is how many it may make at once; 0 means four seconds of
	// the rate.
	Burst int
	// InFlight requests that wait for an answer at once, of all clients; 0 means
	// 10,000. What the near tier has is served beside them.
	InFlight int64
	// Share of InFlight that one endpoint may take, above 0 and at most 1; 0
	// means a half. See admission.
	Share float64
	// Delay is how long work that could go on may wait for a processor, most of
	// the time, before a part of those who must wait for an answer is shed; 0
	// sheds nobody for that.
	Delay time.Duration
}

// Settings are what may change while it serves, beside the catalog.
type Settings struct {
	// Trusted are the proxies whose word on the caller's address counts.
	Trusted []netip.Prefix
	// Forwarded is the header in which they give it; "" means ByEither.
	Forwarded Forwarded
	Limits    Limits
	// HitSample logs one of so many hits; 0 means 100, 1 all of them.
	HitSample uint64
	// RefusalSample is Config's.
	RefusalSample uint64
	// Mark of requests that this service sent; "": they bear none.
	Mark loop.Mark
}

// activeSettings are settings made ready.
type activeSettings struct {
	Settings
	limiter     *rateLimiter
	proxyWarned atomic.Bool // of being held to one rate for many: a proxy
}

// newActiveSettings takes over from those before what clients have used of their rate,
// where that is the same.
func newActiveSettings(settings Settings, before *activeSettings) *activeSettings {
	if settings.Limits.InFlight == 0 {
		settings.Limits.InFlight = 10_000
	}
	if settings.Limits.Share == 0 {
		settings.Limits.Share = 0.5
	}
	if settings.HitSample == 0 {
		settings.HitSample = 100
	}
	if settings.RefusalSample == 0 {
		settings.RefusalSample = 100
	}
	r := &activeSettings{Settings: settings}
	if l := settings.Limits; before != nil && l.Rate == before.Limits.Rate && l.Burst == before.Limits.Burst {
		r.limiter = before.limiter
	} else {
		r.limiter = newRateLimiter(l)
	}
	return r
}
