package guard

import (
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"code.dny.dev/ssrf"
)

// ownTTL is how long the list of this machine's addresses is cached: interfaces
// change seldom.
const ownTTL = 30 * time.Second

// ownAddresses are the addresses of this machine's interfaces, public ones too:
// services that listen there may trust connections from the machine itself.
// Addresses that a NAT in front translates to this machine are not among them.
type ownAddresses struct {
	list  func() ([]net.Addr, error)
	known atomic.Pointer[map[netip.Addr]bool]
	until atomic.Int64 // unix nanoseconds
}

// contains reports whether an address is one of this machine. The first call after
// ownTTL lists them again; if that fails, the known ones remain.
func (o *ownAddresses) contains(a netip.Addr) bool {
	now, until := time.Now().UnixNano(), o.until.Load()
	if now >= until && o.until.CompareAndSwap(until, now+int64(ownTTL)) {
		o.refresh()
	}
	known := o.known.Load()
	return known != nil && (*known)[a.Unmap().WithZone("")]
}

func (o *ownAddresses) refresh() {
	listed, err := o.list()
	if err != nil {
		return
	}
	known := make(map[netip.Addr]bool, len(listed))
	for _, one := range listed {
		if a, ok := addressOf(one); ok {
			known[a] = true
		}
	}
	o.known.Store(&known)
}

// addressOf is an interface's address without its mask.
func addressOf(one net.Addr) (netip.Addr, bool) {
	var ip net.IP
	switch v := one.(type) {
	case *net.IPNet:
		ip = v.IP
	case *net.IPAddr:
		ip = v.IP
	}
	a, ok := netip.AddrFromSlice(ip)
	return a.Unmap(), ok
}

// Public reports whether an address is on the public internet, by IANA's
// special-purpose registries (RFC 6890). Addresses that embed an IPv4 address
// for a translator or tunnel are not, whichever they embed; an IPv4-mapped one
// is treated as that IPv4 address.
func Public(a netip.Addr) bool {
	if a.Zone() != "" { // checked first: Unmap drops it
		return false
	}
	a = a.Unmap()
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	if a.Is4() {
		return !containsAddr(ssrf.IPv4DeniedPrefixes, a) && a != azureHost()
	}
	// All addresses assigned today are in 2000::/3: that excludes loopback, ULA, link-local, site-local, NAT64, discard-only and compatible.
	return ssrf.IPv6GlobalUnicast.Contains(a) && !containsAddr(ssrf.IPv6DeniedPrefixes, a)
}

func containsAddr(list []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
}

// azureHost is the platform service on Azure's hosts, which is in no registry.
func azureHost() netip.Addr { return netip.AddrFrom4([4]byte{168, 63, 129, 16}) }
