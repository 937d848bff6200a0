package guard

import (
	"net/netip"

	"code.dny.dev/ssrf"
)

// Public tells whether an address is of the public internet, by IANA's
// special-purpose registries (RFC 6890). Addresses that stand for an IPv4
// address by way of a translator or tunnel are not, whatever they stand for;
// an IPv4-mapped one is judged as the IPv4 address that it is.
func Public(a netip.Addr) bool {
	if a.Zone() != "" { // first of all: unmapping drops it
		return false
	}
	a = a.Unmap()
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	if a.Is4() {
		return !within(a, ssrf.IPv4DeniedPrefixes) && a != cloudHost()
	}
	// Everything that is handed out today is in 2000::/3: that leaves out
	// loopback, ULA, link-local, site-local, NAT64, discard-only and compatible.
	return ssrf.IPv6GlobalUnicast.Contains(a) && !within(a, ssrf.IPv6DeniedPrefixes)
}

func within(a netip.Addr, list []netip.Prefix) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// cloudHost is Azure's agent on the machine below, in no registry.
func cloudHost() netip.Addr { return netip.AddrFrom4([4]byte{168, 63, 129, 16}) }
