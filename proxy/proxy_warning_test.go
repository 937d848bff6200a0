package proxy

import (
	"net/netip"
	"testing"
	"time"
)

// TestAProxyIsFoundAmongPeers: peers that name clients take a fixed memory, and one that names three within an hour is found, once.
func TestAProxyIsFoundAmongPeers(t *testing.T) {
	t.Parallel()
	address := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{203, 0, byte(i >> 8), byte(i)}) }
	peer, now := netip.MustParseAddr("10.0.0.1"), time.Now()
	w := &proxyWatch{}
	for i := range 1000 {
		if w.note(address(i), address(i+1), now) || w.note(address(i), address(i+2), now) {
			t.Fatalf("a peer that names two is a proxy: %s", address(i))
		}
	}
	for i := range 100 {
		if w.note(peer, address(i), now.Add(time.Duration(i)*40*time.Minute)) {
			t.Fatal("a peer that names two clients an hour is a proxy")
		}
	}
	now = now.Add(100 * time.Hour)
	for i, want := range []bool{false, false, false, true, false, false} {
		if got := w.note(peer, address([]int{0, 1, 0, 2, 3, 4}[i]), now); got != want {
			t.Errorf("%d: found: %v", i, got)
		}
	}
	if w.note(address(7), address(1), now) || w.note(address(7), address(2), now) || w.note(address(7), address(3), now) {
		t.Error("a second proxy is found")
	}
}

// TestTheSettingOfAProxy is YAML, which a text with a colon at its beginning is not.
func TestTheSettingOfAProxy(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}
	for proxy, want := range map[string]string{
		"192.0.2.1": `trusted_proxies: [10.0.0.0/8, "2001:db8::/32", 192.0.2.1]`, "::1": `trusted_proxies: [10.0.0.0/8, "2001:db8::/32", "::1"]`,
	} {
		if got := trustedWith(trusted, netip.MustParseAddr(proxy)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestLookingForAProxyAllocatesNothing at a request that names a client.
func TestLookingForAProxyAllocatesNothing(t *testing.T) {
	w, peer, lines := &proxyWatch{}, netip.MustParseAddr("10.0.0.1"), []string{"203.0.113.9, 203.0.113.7"}
	if n := testing.AllocsPerRun(100, func() { w.note(peer, lastHop(peer, lines, nil), time.Now()) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
