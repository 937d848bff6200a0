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
	asked int
}

func (m *machine) list() ([]net.Addr, error) {
	m.asked++
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

// TestOwnAddressesAreInnerOnes: what listens here may listen for this machine
// alone, on whichever of its addresses.
func TestOwnAddressesAreInnerOnes(t *testing.T) {
	m := &machine{addrs: []string{"8.8.4.4/24", "2400:3200::5/64"}}
	g := New(Config{Interfaces: m.list})
	for _, own := range []string{"8.8.4.4", "2400:3200::5", "::ffff:8.8.4.4"} {
		_, err := g.Resolve(t.Context(), own) // which dials nothing should it pass
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
		t.Error("a name that leads here passes")
	}
	g.Allow([]netip.Prefix{netip.MustParsePrefix("8.8.4.4/32")})
	if _, err := g.Resolve(t.Context(), "8.8.4.4"); err != nil {
		t.Errorf("opened on purpose: %v", err)
	}
}

// TestInterfacesChange: new addresses are seen after a while, without a look
// for every connection; while they cannot be listed, those known stay.
func TestInterfacesChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{addrs: []string{"8.8.4.4/24"}}
		g := New(Config{Interfaces: m.list})
		passes := func(a string) bool { _, err := g.Resolve(t.Context(), a); return err == nil }
		for range 100 {
			if passes("8.8.4.4") || !passes("8.8.4.5") {
				t.Fatal("not what the interfaces say")
			}
		}
		if m.asked != 1 {
			t.Errorf("listed %d times", m.asked)
		}
		m.addrs = []string{"8.8.4.5/24"}
		time.Sleep(ownFor + time.Second)
		if !passes("8.8.4.4") || passes("8.8.4.5") || m.asked != 2 {
			t.Errorf("after a change, listed %d times", m.asked)
		}
		m.addrs, m.err = nil, errors.New("no")
		time.Sleep(ownFor + time.Second)
		if passes("8.8.4.5") || m.asked != 3 {
			t.Errorf("while they cannot be listed, listed %d times", m.asked)
		}
	})
}

// TestThisMachinesAddresses: without a list of one's own, the machine's counts.
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
