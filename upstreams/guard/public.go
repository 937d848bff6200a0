package guard

import (
	"net/netip"

	"code.dny.dev/ssrf"
)

// Public tells whether an address is of the public internet. It follows IANA's
// special-purpose registries; what they leave open and networks use inside is
// listed here.
func Public(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsValid() || a.Zone() != "" || !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	if a.Is4() {
		return !within(a, ssrf.IPv4DeniedPrefixes) && !within(a, ours4())
	}
	// Everything that is handed out today is in 2000::/3.
	return ssrf.IPv6GlobalUnicast.Contains(a) && !within(a, ssrf.IPv6DeniedPrefixes) && !within(a, ours6())
}

func within(a netip.Addr, list []netip.Prefix) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

func ours4() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"),
		netip.MustParsePrefix("100.64.0.0/10"), // CGNAT, with one cloud's metadata
		netip.MustParsePrefix("169.254.0.0/16"),
		netip.MustParsePrefix("192.0.0.0/24"),
		netip.MustParsePrefix("192.0.2.0/24"),
		netip.MustParsePrefix("192.88.99.0/24"),
		netip.MustParsePrefix("198.18.0.0/15"),
		netip.MustParsePrefix("198.51.100.0/24"),
		netip.MustParsePrefix("203.0.113.0/24"),
		netip.MustParsePrefix("240.0.0.0/4"),
		netip.MustParsePrefix("168.63.129.16/32"), // another cloud's host
	}
}

func ours6() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("2001::/23"), // Teredo, ORCHID, benchmarking
		netip.MustParsePrefix("2001:db8::/32"),
		netip.MustParsePrefix("2002::/16"), // 6to4 carries any IPv4 address
		netip.MustParsePrefix("3fff::/20"), // documentation (RFC 9637)
	}
}
