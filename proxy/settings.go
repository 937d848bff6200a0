package proxy

import (
	"net/netip"
	"slices"
	"time"

	"sundry/upstreams/loop"
)

// Limits of the requests that are served. A rate of zero switches the rate limit
// off.
type Limits struct {
	// Rate is the number of requests per second that one client may make at this
	// instance in the long run.
	Rate float64
	// Burst is how many it may make at once; 0 means four seconds of the rate.
	Burst int
	// InFlight is how many requests of all clients may wait for an answer at once;
	// 0 means 10,000. Answers from the near tier do not wait and are not counted.
	InFlight int64
	// Share of InFlight that one endpoint may take, above 0 and at most 1; 0
	// means 0.5. See admission.
	Share float64
	// QueueDelay is the queue delay (the 95th percentile of the time that runnable
	// goroutines wait for a processor) above which a share of the requests that
	// have to wait is shed; 0 switches that off.
	QueueDelay time.Duration
}

// Settings are what a reload may change, besides the catalog.
type Settings struct {
	// Trusted are the proxies whose header with the client's address is believed.
	Trusted []netip.Prefix
	// Forwarded is that header; "" means ByEither.
	Forwarded Forwarded
	Limits    Limits
	// HitSample of N logs one of every N hits; 0 means 100.
	HitSample uint64
	// RefusalSample of N logs one of every N refused requests (400, 403, 405, 429,
	// 503, 404 for an unknown endpoint, and errors while sources that failed are not
	// asked again), and for each outcome the first of each second; 0 means 100.
	RefusalSample uint64
	// LogKeys adds the marks of keys to the log.
	LogKeys bool
	// PublicURL is where callers reach the service, without the base path, such as
	// https://api.example.org; "": each request says it.
	PublicURL string
	// Contact is an e-mail address or the URL of a page, for the OpenAPI document and security.txt; "" for
	// none.
	Contact string
	// LoopID of this service, in requests that it sends; "" for none.
	LoopID loop.ID
	// MCP offers the endpoints to agents as tools; nil: no such thing is offered.
	MCP *MCP
}

// activeSettings are settings in use, with the state that belongs to them.
type activeSettings struct {
	Settings
	limiter rateLimiter
	proxies *proxyWatch
}

// newActiveSettings fills in the defaults. Where the rate limit stays the same,
// the previous limiter is kept, with what clients have used of their bursts; where the
// trusted proxies do, what is known of others.
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
	active := &activeSettings{Settings: settings}
	if l := settings.Limits; before != nil && l.Rate == before.Limits.Rate && l.Burst == before.Limits.Burst {
		active.limiter = before.limiter
	} else {
		active.limiter = newRateLimiter(l)
	}
	if active.proxies = (&proxyWatch{}); before != nil && slices.Equal(settings.Trusted, before.Trusted) {
		active.proxies = before.proxies
	}
	return active
}
