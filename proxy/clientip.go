package proxy

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// callerOf tells who called: the peer, unless that is a trusted proxy. Then it
// is the right-most hop of X-Forwarded-For or Forwarded that is not one; what
// stands left of it is the caller's own claim.
func callerOf(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer := parseHop(r.RemoteAddr)
	if len(trusted) == 0 || !isTrusted(peer, trusted) {
		return peer
	}
	hops := forwardedHops(r.Header)
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

// forwardedHops lists the hops from left to right. X-Forwarded-For is what
// proxies send in practice; Forwarded (RFC 7239) counts where it is absent.
func forwardedHops(h http.Header) []string {
	if lines := h.Values("X-Forwarded-For"); len(lines) > 0 {
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
