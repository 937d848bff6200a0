package proxy

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Forwarded is the header in which trusted proxies say who called. One that they
// do not write is the caller's own, and they pass it on as it came.
type Forwarded string

// The headers. ByEither takes X-Forwarded-For where there is one, and Forwarded
// (RFC 7239) where there is none: good for proxies that write the first, or let
// neither through.
const (
	ByEither        Forwarded = "either"
	ByXForwardedFor Forwarded = "x-forwarded-for"
	ByForwarded     Forwarded = "forwarded"
)

// callerOf tells who called: the peer, unless that is a trusted proxy. Then it
// is the right-most hop of the header that is not one; what stands left of it is
// the caller's own claim. An empty by is ByEither.
func callerOf(r *http.Request, trusted []netip.Prefix, by Forwarded) netip.Addr {
	peer := parseHop(r.RemoteAddr)
	if len(trusted) == 0 || !isTrusted(peer, trusted) {
		return peer
	}
	hops := forwardedHops(r.Header, by)
	for _, hop := range slices.Backward(hops) {
		addr := parseHop(hop)
		if !addr.IsValid() {
			return peer // garbage: whoever is left of it cannot be believed
		}
		if !isTrusted(addr, trusted) {
			return addr
		}
		peer = addr
	}
	return peer
}

func isTrusted(a netip.Addr, trusted []netip.Prefix) bool {
	return a.IsValid() && slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(a) })
}

// forwardedHops lists the hops from left to right.
func forwardedHops(h http.Header, by Forwarded) []string {
	if lines := h.Values("X-Forwarded-For"); by == ByXForwardedFor || by != ByForwarded && len(lines) > 0 {
		return splitList(lines)
	}
	var hops []string
	for _, element := range splitList(h.Values("Forwarded")) {
		for pair := range strings.SplitSeq(element, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
			if strings.EqualFold(name, "for") {
				hops = append(hops, strings.Trim(value, `"`))
			}
		}
	}
	return hops
}

func splitList(lines []string) []string {
	var out []string
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			out = append(out, strings.TrimSpace(item))
		}
	}
	return out
}

// parseHop reads an address with or without a port, an IPv6 one with or
// without brackets. The zero Addr is anything else.
func parseHop(s string) netip.Addr {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap().WithZone("")
	}
	a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap().WithZone("")
}
