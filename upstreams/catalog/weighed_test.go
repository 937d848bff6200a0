package catalog

import (
	"net/netip"
	"testing"
)

// Breakers weigh a call by its key where callers choose it, and by its client,
// of whom an IPv6 one has a whole /64.
func TestCallsAreWeighedByKeyAndClient(t *testing.T) {
	c := mustLoad(t, nil)
	weigh := func(endpoint, query, client string) (key, who uint64) {
		t.Helper()
		e, _ := c.Get(endpoint)
		in, bad := e.Parse(query, Caller{Addr: caller})
		if bad != nil {
			t.Fatal(bad)
		}
		f := Fill{Input: in}
		if client != "" {
			f.Client = netip.MustParseAddr(client)
		}
		w := f.weighed(in.Form.Chain)
		return w.Key, w.Client
	}
	one, v4 := weigh("ip", "ip=8.8.8.8", "203.0.113.7")
	other, v4again := weigh("ip", "ip=8.8.4.4", "203.0.113.7")
	if one == other || one == 0 || v4 != v4again || v4 == 0 {
		t.Errorf("keys %x and %x, clients %x and %x", one, other, v4, v4again)
	}
	if key, _ := weigh("yiyan", "", "203.0.113.7"); key != 0 {
		t.Errorf("a key that nobody chooses weighs %x", key)
	}
	_, a := weigh("ip", "", "2001:db8:1:2::3")
	_, b := weigh("ip", "", "2001:db8:1:2:ffff::4")
	_, d := weigh("ip", "", "2001:db8:1:3::3")
	if a != b || a == d {
		t.Errorf("two of a /64: %x and %x; of another: %x", a, b, d)
	}
	if _, nobody := weigh("ip", "ip=8.8.8.8", ""); nobody != 0 {
		t.Errorf("nobody weighs %x", nobody)
	}
}
