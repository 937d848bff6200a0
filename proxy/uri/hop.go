package uri

import (
	"net/netip"
	"strings"
)

// ParseHop returns the address in a text with or without a port, IPv6 with or without
// brackets; the zero Addr for anything else. Where there cannot be a port it looks for
// none: the error would be allocated.
func ParseHop(s string) netip.Addr {
	if mayHavePort(s) {
		if ap, err := netip.ParseAddrPort(s); err == nil {
			return ap.Addr().Unmap().WithZone("")
		}
	}
	a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap().WithZone("")
}

// mayHavePort: IPv6 has one behind brackets only.
func mayHavePort(s string) bool {
	if strings.HasPrefix(s, "[") {
		return !strings.HasSuffix(s, "]")
	}
	return strings.Count(s, ":") == 1
}
