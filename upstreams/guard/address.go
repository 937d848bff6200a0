package guard

import (
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"code.dny.dev/ssrf"
)

// ownFor is how long the addresses of this machine are taken for what they
// were: interfaces change seldom.
const ownFor = 30 * time.Second

// own knows the addresses of this machine's interfaces, public ones too: what
// listens there may take whoever comes from the machine itself for a friend.
// Addresses that a network in front translates to this machine are not among
// them.
type own struct {
	list  func() ([]net.Addr, error)
	known atomic.Pointer[map[netip.Addr]bool]
	until atomic.Int64 // unix nanoseconds
}

// has tells an address of this machine. Whoever comes first after ownFor lists
// them anew; while that cannot be done, those known stay.
func (o *own) has(a netip.Addr) bool {
	now, until := time.Now().UnixNano(), o.until.Load()
	if now >= until && o.until.CompareAndSwap(until, now+int64(ownFor)) {
		o.look()
	}
	known := o.known.Load()
	return known != nil && (*known)[a.Unmap().WithZone("")]
}

func (o *own) look() {
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

// addressOf is an interface's address without its network.
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
