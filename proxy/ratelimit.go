package proxy

import (
	"net/http"
	"strconv"
	"time"
)

// burstOfRate is the burst, in seconds of the rate, where none is set.
const burstOfRate = 4

// lowShare of its burst, as a divisor, is little: who has less left is told so
// with every answer. All others get along without two more headers.
const lowShare = 4

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
