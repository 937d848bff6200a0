package through

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"sundry/cache/web"
)

// heard returns the request with the fields that are passed on to the origin and that select its response. It has no connection fields. Unless
// it came through a trusted proxy, it has no fields that say where it comes from, or what it was before: an origin might believe them, and
// its response is for all clients.
func (h *Handler) heard(r *http.Request, trusted bool) *http.Request {
	leftOut := func(name string, _ []string) bool { return !IsHeard(name, trusted) || isDisguised(name) }
	if !web.HasConnectionFields(r.Header) && !hasField(r.Header, leftOut) {
		return r
	}
	next := r.WithContext(r.Context())
	next.Header = r.Header.Clone()
	web.RemoveConnectionFields(next.Header)
	maps.DeleteFunc(next.Header, leftOut)
	return next
}

func hasField(h http.Header, which func(name string, lines []string) bool) bool {
	for name, lines := range h {
		if which(name, lines) {
			return true
		}
	}
	return false
}

// IsHeard reports whether a request field is passed on to the origin, and so may select a response. trusted means that the request came
// through a trusted proxy.
func IsHeard(name string, trusted bool) bool { return trusted || !isProxys(name) }

// isProxys reports whether a request field is one that proxies set.
func isProxys(name string) bool {
	return strings.HasPrefix(name, "X-Forwarded-") || name == "Forwarded" || slices.Contains(addressFields[:], name) ||
		web.IsRouting(name) && !strings.Contains(name, "Method")
}

// addressFields are the fields in which proxies and content delivery networks tell an origin the address of the client.
var addressFields = [...]string{
	"X-Real-Ip", "X-Client-Ip", "Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip", "X-Cluster-Client-Ip", "Fastly-Client-Ip",
	"X-Azure-Clientip", "X-Azure-Socketip", "X-Proxyuser-Ip", "X-Appengine-User-Ip", "X-Envoy-External-Address",
}

// isDisguised reports whether an origin may take a field, spelled with underscores, for a field of proxies. Trusted proxies send none of these.
func isDisguised(name string) bool {
	plain, ok := web.Undisguised(name)
	return ok && (isProxys(plain) || web.IsRouting(plain))
}

// forwarded returns the header for the origin: that of the request, with Via, the site, and the other fields that this service adds.
func (c *call) forwarded() http.Header {
	caller, h := c.r, c.r.Header.Clone()
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = nil // or net/http adds its own
	}
	c.addVia(h, strings.TrimPrefix(caller.Proto, "HTTP/")+" "+via)
	c.tellSite(h)
	if c.Rules.ReduceCodings {
		h["Accept-Encoding"] = []string{web.ReducedCodings(h["Accept-Encoding"])}
	}
	if id := c.LoopID(); id != "" {
		h["Cdn-Loop"] = append(h["Cdn-Loop"], id)
	}
	if c.id != "" {
		h["X-Request-Id"] = []string{c.id}
	}
	if c.upgrade != nil {
		h["Connection"], h["Upgrade"] = []string{"Upgrade"}, c.upgrade
	}
	c.Request(h)
	if c.upgrade != nil {
		spellAsRFC(h)
	}
	return h
}

// via is the name of this service in Via.
const via = "sundry"

// addVia adds this service to the Via of a message. received has the version of HTTP in which the service received it.
func (h *Handler) addVia(to http.Header, received string) {
	if !h.NoVia {
		to["Via"] = append(slices.Clip(to["Via"]), received)
	}
}
