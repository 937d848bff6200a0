package proxy

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Forwarded names the header in which trusted proxies send the client's address. A
// header that they do not write themselves is passed on as the client sent it, and
// must not be believed.
type Forwarded string

// The headers. ByEither reads X-Forwarded-For, and Forwarded (RFC 7239) where that
// is missing: right for proxies that write X-Forwarded-For or remove both.
const (
	ByEither        Forwarded = "either"
	ByXForwardedFor Forwarded = "x-forwarded-for"
	ByForwarded     Forwarded = "forwarded"
)

// callerAddress returns the client's address: the peer's, unless that is a trusted
// proxy. Then it is the right-most hop of the header that is not trusted; the hops
// left of it may be forged. An empty by is ByEither.
func callerAddress(r *http.Request, trusted []netip.Prefix, by Forwarded) netip.Addr {
	peer := parseHop(r.RemoteAddr)
	if len(trusted) == 0 || !isTrusted(peer, trusted) {
		return peer
	}
	hops := forwardedHops(r.Header, by)
	for _, hop := range slices.Backward(hops) {
		addr := parseHop(hop)
		if !addr.IsValid() {
			return peer // not an address: what is left of it may be forged
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

// forwardedHops returns the hops from left to right.
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

// parseHop parses an address with or without a port, IPv6 with or without
// brackets; the zero Addr for anything else.
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
