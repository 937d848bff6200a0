package guard

import (
	"errors"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// machine has interfaces with these addresses.
type machine struct {
	addrs []string
	err   error
	lists int
}

func (m *machine) list() ([]net.Addr, error) {
	m.lists++
	var out []net.Addr
	for _, a := range m.addrs {
		ip, network, err := net.ParseCIDR(a)
		if err != nil {
			return nil, err
		}
		out = append(out, &net.IPNet{IP: ip, Mask: network.Mask})
	}
	return out, m.err
}

// TestOwnAddressesAreRefused: a service on any address of this machine may be
// meant for the machine itself.
func TestOwnAddressesAreRefused(t *testing.T) {
	m := &machine{addrs: []string{"8.8.4.4/24", "2400:3200::5/64"}}
	g := New(Config{Interfaces: m.list})
	for _, own := range []string{"8.8.4.4", "2400:3200::5", "::ffff:8.8.4.4"} {
		_, err := g.Resolve(t.Context(), own) // Resolve does not dial
		refused(t, err)
		if _, err := g.CheckURL("http://" + net.JoinHostPort(own, "80") + "/"); err == nil {
			t.Errorf("a URL of %s passes", own)
		}
	}
	for _, neighbour := range []string{"8.8.4.5", "2400:3200::6"} {
		if _, err := g.Resolve(t.Context(), neighbour); err != nil {
			t.Errorf("%s: %v", neighbour, err)
		}
	}
	resolver := &names{answers: [][]string{{"8.8.8.8", "8.8.4.4"}}}
	if _, err := New(Config{Interfaces: m.list, Resolver: resolver}).Resolve(t.Context(), "example.org"); err == nil {
		t.Error("a name of this machine's address passes")
	}
	g.Allow([]netip.Prefix{netip.MustParsePrefix("8.8.4.4/32")})
	if _, err := g.Resolve(t.Context(), "8.8.4.4"); err != nil {
		t.Errorf("in an allowed range: %v", err)
	}
}

// TestInterfacesChange: new addresses are found after a while, without listing
// them for every connection; while they cannot be listed, the known ones remain.
func TestInterfacesChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{addrs: []string{"8.8.4.4/24"}}
		g := New(Config{Interfaces: m.list})
		passes := func(a string) bool { _, err := g.Resolve(t.Context(), a); return err == nil }
		for range 100 {
			if passes("8.8.4.4") || !passes("8.8.4.5") {
				t.Fatal("not as the interfaces are")
			}
		}
		if m.lists != 1 {
			t.Errorf("listed %d times", m.lists)
		}
		m.addrs = []string{"8.8.4.5/24"}
		time.Sleep(ownTTL + time.Second)
		if !passes("8.8.4.4") || passes("8.8.4.5") || m.lists != 2 {
			t.Errorf("after a change, listed %d times", m.lists)
		}
		m.addrs, m.err = nil, errors.New("cannot list")
		time.Sleep(ownTTL + time.Second)
		if passes("8.8.4.5") || m.lists != 3 {
			t.Errorf("while they cannot be listed, listed %d times", m.lists)
		}
	})
}

// TestThisMachinesAddresses: by default the addresses are the machine's.
func TestThisMachinesAddresses(t *testing.T) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Skip(err)
	}
	g := New(Config{})
	for _, a := range addrs {
		if own, ok := addressOf(a); ok && g.permits(own) {
			t.Errorf("%s may be reached", own)
		}
	}
}

func TestPublic(t *testing.T) {
	for _, a := range []string{
		"1.1.1.1", "8.8.8.8", "114.114.114.114", "223.5.5.5", "93.184.216.34", "172.15.255.255", "172.32.0.1", "192.167.1.1", "168.63.129.15",
		"9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.1", "128.0.0.0", "169.253.255.255", "169.255.0.0", "198.17.1.1", "198.20.0.1", "223.255.255.255",
		"2400:3200::1", "2606:4700:4700::1111", "2001:4860:4860::8888", "240e:e:0:100::1", "2001:200::1", "2003::1", "::ffff:8.8.8.8",
	} {
		if !Public(netip.MustParseAddr(a)) {
			t.Errorf("%s is public", a)
		}
	}
}

// forbiddenAddresses are the first and last ones of each range.
func forbiddenAddresses() map[string][]string {
	return map[string][]string{
		"this network":        {"0.0.0.0", "0.1.2.3", "0.255.255.255"},
		"private":             {"10.0.0.0", hidden, "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255"},
		"CGNAT":               {"100.64.0.0", "100.127.255.255"},
		"loopback":            {"127.0.0.0", "127.0.0.1", "127.255.255.255"},
		"link-local":          {"169.254.0.0", "169.254.255.255"},
		"metadata":            {"169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"},
		"protocols":           {"192.0.0.0", "192.0.0.255", "192.88.99.1", "192.31.196.1", "192.52.193.1", "192.175.48.1"},
		"documentation":       {"192.0.2.0", "192.0.2.255", "198.51.100.1", "203.0.113.255"},
		"benchmarking":        {"198.18.0.0", "198.19.255.255", "2001:2::1"},
		"multicast":           {"224.0.0.0", "239.255.255.255", "ff02::1", "ff0e::1"},
		"reserved":            {"240.0.0.0", "250.1.2.3", "255.255.255.255"},
		"IPv6 special":        {"::", "::1", "100::1", "100:0:0:1::1", "5f00::1", "4000::1", "e000::1"},
		"IPv4-mapped":         {"::ffff:127.0.0.1", "::ffff:" + hidden, "::ffff:169.254.169.254", "::ffff:100.64.0.1", "::ffff:0.0.0.0"},
		"IPv4-compatible":     {"::127.0.0.1", "::10.0.0.1", "::8.8.8.8"},
		"IPv4-translated":     {"::ffff:0:7f00:1"},
		"NAT64":               {"64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::808:808", "64:ff9b:1::1", "64:ff9b:1:ffff::7f00:1"},
		"6to4":                {"2002:7f00:1::1", "2002:a00:1::1", "2002:808:808::1", "2002:ffff:ffff::"},
		"Teredo":              {"2001::1", "2001:0:4136:e378::1"},
		"ORCHID":              {"2001:10::1", "2001:20::1", "2001:1ff:ffff::1"},
		"IPv6 documentation":  {"2001:db8::1", "2001:db8:ffff::1", "3fff::1", "3fff:fff::1"},
		"ULA":                 {"fc00::1", "fdff::1"},
		"IPv6 link-local":     {"fe80::1", "febf::1", "fe80::1%eth0", "2400:3200::1%eth0"},
		"IPv6 site-local":     {"fec0::1", "feff::1"},
		"direct delegation":   {"2620:4f:8000::1"},
		"IPv4-mapped zone":    {"::ffff:8.8.8.8%eth0"},
		"discard-only":        {"100::", "100::ffff:ffff:ffff:ffff"},
		"protocol assignment": {"2001:1::1", "2001:3::1", "2001:4:112::1"},
	}
}

func TestNotPublic(t *testing.T) {
	for kind, addresses := range forbiddenAddresses() {
		for _, a := range addresses {
			if Public(netip.MustParseAddr(a)) {
				t.Errorf("%s (%s) counts as public", a, kind)
			}
		}
	}
	if Public(netip.Addr{}) {
		t.Error("no address at all counts as public")
	}
}

func TestAllowCoversItsRangesOnly(t *testing.T) {
	g := New(Config{Allow: []netip.Prefix{
		netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("64:ff9b::/96"),
	}})
	for a, want := range map[string]bool{
		"127.0.0.1": true, "::ffff:127.0.0.1": true, "127.0.0.2": false, hidden: true, "192.168.0.1": false, "::127.0.0.1": false,
		"fe80::1": true, "fe80::1%eth0": false, "::ffff:127.0.0.1%eth0": false, "64:ff9b::7f00:1": true, "64:ff9b:1::1": false, "8.8.8.8": true,
	} {
		if got := g.permits(netip.MustParseAddr(a)); got != want {
			t.Errorf("%s: %v, want %v", a, got, want)
		}
	}
}
