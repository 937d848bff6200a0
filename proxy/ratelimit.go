package proxy

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"sundry/cache/clients"
	"sundry/proxy/ratelimit"
	"sundry/proxy/through"
)

// limitRate refuses a client that is over its rate. A trusted proxy is not
// limited itself: it asks on its own behalf (a health check), or does not name the
// client, and then the limit would hit all clients behind it.
func (s *Server) limitRate(req *request) *failure {
	settings := req.route.settings
	a := settings.limiter.Allow(req.caller, req.start)
	if a.OK {
		req.allowed = a
		return nil
	}
	if isTrusted(req.caller, settings.Trusted) {
		return nil
	}
	req.allowed = a
	s.metrics.limited.Inc()
	return limited(a.Next)
}

// limitClient counts a request for an API that stored responses do not answer. A trusted proxy is not limited, as in limitRate.
func (s *Server) limitClient(client clients.ID, began time.Time) (wait time.Duration, ok bool) {
	if client == clients.Nobody {
		return 0, true
	}
	a := s.current.Load().settings.limiter.AllowClient(client, began)
	return a.Next, a.OK
}

// isLimited reports whether the rate limit refuses a request for an API.
func isLimited(err error) bool {
	_, ok := errors.AsType[*through.LimitedError](err)
	return ok
}

// rateLimiter limits clients, unless its Limiter is nil, and knows the value of
// RateLimit-Policy.
type rateLimiter struct {
	*ratelimit.Limiter
	policy string
}

// mostAtOnce is how many requests a client may make at once; 0: any number.
func (l rateLimiter) mostAtOnce() (n int64) {
	if l.Limiter != nil {
		n, _ = l.Burst()
	}
	return n
}

// newRateLimiter returns the limiter of these limits.
func newRateLimiter(limits Limits) rateLimiter {
	l := rateLimiter{Limiter: ratelimit.New(limits.Rate, limits.Burst)}
	if l.Limiter != nil {
		l.policy = ratePolicy(l.Burst())
	}
	return l
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
func (l *rateLimiter) describe(h *head, a *ratelimit.Allowance) {
	if a.Low {
		h.end(fieldRateLimit, appendAllowance(h.begin(), a))
		h.put(fieldRateLimitPolicy, l.policy)
	}
}

// setHeaders sets the two for an answer that is not from the cache.
func (l *rateLimiter) setHeaders(h http.Header, a *ratelimit.Allowance) {
	var buf [64]byte
	v := []string{string(appendAllowance(buf[:0], a)), l.policy}
	h[fieldRateLimit.name()], h[fieldRateLimitPolicy.name()] = v[0:1:1], v[1:2:2]
}

// appendAllowance appends the value of RateLimit.
func appendAllowance(b []byte, a *ratelimit.Allowance) []byte {
	b = strconv.AppendInt(append(b, `"default";r=`...), a.Remaining, 10)
	return strconv.AppendInt(append(b, ";t="...), ceilSeconds(a.Next), 10)
}

// ceilSeconds rounds up to whole seconds, at least one.
func ceilSeconds(d time.Duration) int64 { return max(1, int64((d+time.Second-1)/time.Second)) }
