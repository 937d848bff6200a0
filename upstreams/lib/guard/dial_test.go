package guard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestConnectionGoesToTheCheckedAddress(t *testing.T) {
	port := listen(t)
	for target, answer := range map[string][]string{
		"127.0.0.1": nil, "Mc.Example.org": {"127.0.0.1"}, "mapped.example.org": {"::ffff:127.0.0.1"}, "twice.example.org.": {"127.0.0.1", "127.0.0.1"},
	} {
		resolver := &names{answers: [][]string{answer}}
		conn, err := New(Config{Allow: loopback(), Resolver: resolver}).Dialer(anyPort)(t.Context(), "tcp", target+":"+port)
		if err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		if got := conn.RemoteAddr().String(); got != "127.0.0.1:"+port {
			t.Errorf("%s: connected to %s", target, got)
		}
		_ = conn.Close()
	}
}

func TestNameIsLookedUpOnce(t *testing.T) {
	port := listen(t)
	rebinding := &names{answers: [][]string{{"127.0.0.1"}, {hidden}}}
	g := New(Config{Allow: loopback(), Resolver: rebinding})
	conn, err := g.DialContext(t.Context(), "tcp", "rebind.example.org:"+port, anyPort)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if want := []string{"rebind.example.org."}; !slices.Equal(rebinding.lookups, want) {
		t.Errorf("looked up %q, want %q", rebinding.lookups, want)
	}
	_, err = g.DialContext(t.Context(), "tcp", "rebind.example.org:"+port, anyPort)
	notFound(t, err) // the second dial resolves and checks again
}

func TestOneForbiddenAddressForbidsTheName(t *testing.T) {
	port := listen(t)
	for _, answer := range [][]string{
		{hidden}, {"127.0.0.1", hidden}, {hidden, "127.0.0.1"}, {"8.8.8.8", hidden}, {"127.0.0.1", "::1"}, {"127.0.0.2"}, {"::ffff:" + hidden}, {"127.0.0.1", "64:ff9b::a09:807"},
		{"127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.1", hidden}, // beyond those that are dialled
	} {
		g := New(Config{Allow: loopback(), Resolver: &names{answers: [][]string{answer}}})
		_, err := g.DialContext(t.Context(), "tcp", "example.org:"+port, anyPort)
		notFound(t, err)
	}
}

// TestInternalNamesLookLikeUnknownOnes: callers must not learn which names the
// resolver of this machine knows. A name with an internal address gets the error
// of a name that does not exist, after the same number of lookups.
func TestInternalNamesLookLikeUnknownOnes(t *testing.T) {
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "refused_total", Help: "Refusals."})
	inner := &names{answers: [][]string{{hidden}}}
	_, err := New(Config{Resolver: inner, Refused: counter}).DialContext(t.Context(), "tcp", "wiki.corp-example.org:443", WebPorts)
	notFound(t, err)
	none := &names{answers: [][]string{{}}}
	_, missing := New(Config{Resolver: none}).DialContext(t.Context(), "tcp", "wiki.corp-example.org:443", WebPorts)
	notFound(t, missing)
	var one, other *net.DNSError
	if !errors.As(err, &one) || !errors.As(missing, &other) || *one != *other {
		t.Errorf("%+v and %+v", one, other)
	}
	if len(inner.lookups) != 1 || len(none.lookups) != 1 || testutil.ToFloat64(counter) != 1 {
		t.Errorf("looked up %q and %q, counted %v", inner.lookups, none.lookups, testutil.ToFloat64(counter))
	}
}

// TestNamesOfOneLabelAreNotLookedUp: no public site has such a name, but the
// other containers of a deployment have.
func TestNamesOfOneLabelAreNotLookedUp(t *testing.T) {
	resolver := &names{answers: [][]string{{hidden}, {"127.0.0.1"}}}
	_, err := New(Config{Resolver: resolver}).Resolve(t.Context(), "redis")
	refused(t, err)
	if len(resolver.lookups) > 0 {
		t.Errorf("looked up %q", resolver.lookups)
	}
	if _, err := New(Config{Allow: loopback(), Resolver: &names{answers: [][]string{{"127.0.0.1"}}}}).Resolve(t.Context(), "redis"); err != nil {
		t.Errorf("with an allowed range: %v", err)
	}
}

func TestNameWithoutAddresses(t *testing.T) {
	_, err := New(Config{Resolver: &names{answers: [][]string{{}}}}).Resolve(t.Context(), "example.org")
	if dns, ok := errors.AsType[*net.DNSError](err); !ok || !dns.IsNotFound {
		t.Errorf("got %v, want no such host", err)
	}
	if _, err := New(Config{Resolver: &names{}}).Resolve(t.Context(), "example.org"); err == nil {
		t.Error("a failed lookup is not an error")
	}
}

func TestRefusedBeforeAnyLookup(t *testing.T) {
	var targets []string
	for _, addresses := range forbiddenAddresses() {
		targets = append(targets, addresses...)
	}
	targets = append(targets, ambiguousAddresses()...)
	targets = append(targets, "localhost", "a.localhost", "LOCALHOST.", "ｌｏｃａｌｈｏｓｔ", "printer.local", "db.internal", "metadata.google.internal", "internal", "router.lan", "x.onion", "")
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "refused_total", Help: "Refusals."})
	resolver := &names{answers: [][]string{{"8.8.8.8"}}}
	g := New(Config{Refused: counter, Resolver: resolver})
	for _, target := range targets {
		_, err := g.DialContext(t.Context(), "tcp", net.JoinHostPort(target, "443"), anyPort)
		if _, ok := errors.AsType[*ForbiddenError](err); !ok {
			t.Errorf("%q: %v", target, err)
		}
	}
	if len(resolver.lookups) > 0 {
		t.Errorf("looked up %q", resolver.lookups)
	}
	if n := testutil.ToFloat64(counter); n != float64(len(targets)) {
		t.Errorf("%v refusals counted, want %d", n, len(targets))
	}
}

func TestPortsAndNetworks(t *testing.T) {
	resolver := &names{}
	g := New(Config{Resolver: resolver})
	for _, r := range []struct {
		network, addr string
		ports         PortPolicy
	}{
		{"tcp", "example.org:22", WebPorts}, {"tcp", "example.org:99999", anyPort}, {"tcp", "example.org:http", anyPort}, {"tcp", "example.org:-1", anyPort},
		{"tcp", "example.org:", anyPort}, {"tcp", "example.org", anyPort}, {"tcp", "2400:3200::1:80", WebPorts}, {"tcp", "example.org:80", nil},
		{"udp", "example.org:80", WebPorts}, {"unix", "example.org:80", WebPorts}, {"", "example.org:80", WebPorts},
	} {
		_, err := g.DialContext(t.Context(), r.network, r.addr, r.ports)
		refused(t, err)
	}
	if len(resolver.lookups) > 0 {
		t.Errorf("looked up %q", resolver.lookups)
	}
}

func TestPrivateNamesNeedAnAllowedRange(t *testing.T) {
	for name, want := range map[string]bool{"router.lan": true, "mc.home.arpa": true, "localhost": false, "a.localhost": false, "db.internal": false, "nas.local": false} {
		g := New(Config{Allow: loopback(), Resolver: &names{answers: [][]string{{"127.0.0.1"}}}})
		if _, err := g.Resolve(t.Context(), name); (err == nil) != want {
			t.Errorf("%s with an allowed range: %v", name, err)
		}
	}
}

func TestSocketIsCheckedToo(t *testing.T) {
	port, err := strconv.ParseUint(listen(t), 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	to := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(port))
	_, err = New(Config{}).connect(t.Context(), "tcp", "example.org:80", to, time.Second)
	forbidden, ok := errors.AsType[*ForbiddenError](err)
	if !ok || forbidden.Target != "example.org:80" {
		t.Errorf("got %v, want a refusal of example.org:80", err)
	}
}

func TestDialsAreBoundedAndEndWhenTheCallerCancels(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close() // now it refuses connections
	_, port, _ := net.SplitHostPort(addr)
	many := func() *names {
		return &names{answers: [][]string{{"127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.1"}}}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for want, ctx := range map[int]context.Context{maxTries: t.Context(), 1: cancelled} {
		_, err := New(Config{Allow: loopback(), Resolver: many()}).DialContext(ctx, "tcp", "example.org:"+port, anyPort)
		if err == nil {
			t.Fatal("connected to a closed port")
		}
		tries, ok := err.(interface{ Unwrap() []error })
		if !ok || len(tries.Unwrap()) != want {
			t.Errorf("got %v, want %d failures", err, want)
		}
	}
}

// TestTheLastAddressHasAllTime that is left, others leave some of it.
func TestTheLastAddressHasAllTime(t *testing.T) {
	ends, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	g := New(Config{DialTimeout: time.Second})
	for want, got := range map[time.Duration][]time.Duration{
		0:           {g.timeout(ends, 0)},
		time.Second: {g.timeout(ends, 1), g.timeout(t.Context(), 0)},
	} {
		for _, timeout := range got {
			if timeout != want {
				t.Errorf("got %v, want %v", timeout, want)
			}
		}
	}
}

func TestSRV(t *testing.T) {
	resolver := &names{srv: []*net.SRV{
		{Target: "spare.example.org.", Port: 1, Priority: 20}, {Target: "node.example.org.", Port: 25577, Priority: 10}, {Target: "other.example.org.", Port: 2, Priority: 10},
	}, srvErr: errors.New("one record had an invalid name")}
	g := New(Config{Resolver: resolver})
	target, port, err := g.LookupSRV(t.Context(), "minecraft", "tcp", "例子.example.org")
	if err != nil || target != "node.example.org" || port != 25577 {
		t.Errorf("%s %d %v", target, port, err)
	}
	if want := []string{"_minecraft._tcp.xn--fsqu00a.example.org."}; !slices.Equal(resolver.lookups, want) {
		t.Errorf("looked up %q, want %q", resolver.lookups, want)
	}
	for _, host := range []string{"127.1", "localhost", "db.internal", "127.0.0.1", "fe80::1%eth0"} {
		_, _, err := g.LookupSRV(t.Context(), "minecraft", "tcp", host)
		refused(t, err)
	}
	if len(resolver.lookups) > 1 {
		t.Errorf("looked up %q", resolver.lookups)
	}
}

func TestNoSRV(t *testing.T) {
	absent := New(Config{Resolver: &names{srv: []*net.SRV{{Target: "."}}}})
	if target, _, err := absent.LookupSRV(t.Context(), "minecraft", "tcp", "example.org"); err != nil || target != "." {
		t.Errorf("no service: %q %v", target, err)
	}
	for host, resolver := range map[string]*names{"example.org": {}, "8.8.8.8": {srv: []*net.SRV{{Target: "example.org."}}}} {
		_, _, err := New(Config{Resolver: resolver}).LookupSRV(t.Context(), "minecraft", "tcp", host)
		if dns, ok := errors.AsType[*net.DNSError](err); !ok || !dns.IsNotFound {
			t.Errorf("%s: got %v, want no such host", host, err)
		}
	}
	if _, _, err := New(Config{Resolver: &names{srvErr: context.DeadlineExceeded}}).LookupSRV(t.Context(), "minecraft", "tcp", "example.org"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestTargetOfSRVIsCheckedWhenDialled(t *testing.T) {
	for srvTarget, want := range map[string]func(*testing.T, error){"127.0.0.2.": refused, "node.example.org.": notFound, "localhost.": refused, "127.1.": refused} {
		resolver := &names{srv: []*net.SRV{{Target: srvTarget, Port: 25577}}, answers: [][]string{nil, {hidden}}}
		g := New(Config{Allow: loopback(), Resolver: resolver})
		target, port, err := g.LookupSRV(t.Context(), "minecraft", "tcp", "example.org")
		if err != nil {
			t.Fatal(err)
		}
		_, err = g.DialContext(t.Context(), "tcp", net.JoinHostPort(target, strconv.Itoa(int(port))), anyPort)
		want(t, err)
	}
}

func TestPortsOfAllowedRanges(t *testing.T) {
	none := func(uint16) bool { return false }
	port := listen(t)
	for target, r := range map[string]struct {
		answer    []string
		forbidden bool
	}{
		"inside.example.org": {[]string{"127.0.0.1"}, false}, "127.0.0.1": {nil, false},
		"mixed.example.org": {[]string{"127.0.0.1", "8.8.8.8"}, true}, "8.8.8.8": {nil, true},
	} {
		g := New(Config{Allow: loopback(), Resolver: &names{answers: [][]string{r.answer}}})
		conn, err := g.DialContext(t.Context(), "tcp", net.JoinHostPort(target, port), none)
		if _, ok := errors.AsType[*ForbiddenError](err); ok != r.forbidden || err == nil && r.forbidden {
			t.Errorf("%s: %v", target, err)
		}
		if err == nil {
			_ = conn.Close()
		}
	}
}
