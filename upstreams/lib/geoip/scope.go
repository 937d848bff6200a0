package geoip

import "net/netip"

// Scope is the special purpose of an address that is not on the public internet:
// unspecified, loopback, private, link_local, cgnat, multicast, broadcast,
// documentation, benchmarking, translation (NAT64), transition (6to4, Teredo),
// discard or reserved, after IANA's special-purpose registries. A public
// address has the scope "".
func Scope(a netip.Addr) string {
	a = a.Unmap()
	switch {
	case !a.IsValid():
		return "reserved"
	case a.IsUnspecified():
		return "unspecified"
	case a.IsLoopback():
		return "loopback"
	case a.IsPrivate():
		return "private"
	case a.IsLinkLocalUnicast():
		return "link_local"
	case a.IsMulticast():
		return "multicast"
	}
	for _, r := range special() {
		if r.prefix.Contains(a) {
			return r.scope
		}
	}
	if a.Is6() && !netip.MustParsePrefix("2000::/3").Contains(a) {
		return "reserved"
	}
	return ""
}

type specialRange struct {
	prefix netip.Prefix
	scope  string
}

// special lists the ranges that net/netip has no method for; of overlapping ones
// the narrower comes first.
func special() []specialRange {
	p := netip.MustParsePrefix
	return []specialRange{
		{p("255.255.255.255/32"), "broadcast"},
		{p("0.0.0.0/8"), "reserved"},
		{p("100.64.0.0/10"), "cgnat"},
		{p("192.0.0.0/24"), "reserved"},
		{p("192.0.2.0/24"), "documentation"},
		{p("192.88.99.0/24"), "transition"},
		{p("198.18.0.0/15"), "benchmarking"},
		{p("198.51.100.0/24"), "documentation"},
		{p("203.0.113.0/24"), "documentation"},
		{p("240.0.0.0/4"), "reserved"},
		{p("64:ff9b::/96"), "translation"},
		{p("64:ff9b:1::/48"), "translation"},
		{p("100::/64"), "discard"},
		{p("2001::/32"), "transition"},
		{p("2001:2::/48"), "benchmarking"},
		{p("2001:db8::/32"), "documentation"},
		{p("3fff::/20"), "documentation"},
		{p("2002::/16"), "transition"},
		{p("fec0::/10"), "private"},
	}
}
