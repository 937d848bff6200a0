package guard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPublic(t *testing.T) {
	for _, a := range []string{
		"1.1.1.1", "8.8.8.8", "114.114.114.114", "223.5.5.5", "93.184.216.34", "172.15.255.255", "172.32.0.1", "192.167.1.1",
		"100.63.255.255", "100.128.0.1", "198.17.1.1", "198.20.0.1", "223.255.255.255",
		"2400:3200::1", "2606:4700:4700::1111", "2001:4860:4860::8888", "240e:e:0:100::1",
	} {
		if !Public(netip.MustParseAddr(a)) {
			t.Errorf("%s is public", a)
		}
	}
	for _, a := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "100.127.255.255", "127.0.0.1", "127.255.255.254",
		"169.254.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1",
		"198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "168.63.129.16",
		"::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
		"64:ff9b:1::1", "100::1", "2001::1", "2001:0:4136:e378::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::1", "2002:a00:1::1",
		"3fff::1", "fc00::1", "fd00:ec2::254", "fdff::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "4000::1", "5f00::1",
	} {
		if Public(netip.MustParseAddr(a)) {
			t.Errorf("%s is not public", a)
		}
	}
	if Public(netip.Addr{}) {
		t.Error("no address at all is not public")
	}
}

func TestCheckHost(t *testing.T) {
	for in, want := range map[string]string{
		"Example.ORG": "example.org", "example.org.": "example.org", "8.8.8.8": "8.8.8.8", "[2400:3200::1]": "2400:3200::1",
		"::ffff:8.8.8.8": "8.8.8.8", "例子.测试": "xn--fsqu00a.xn--0zwm56d", "a_b.example.org": "a_b.example.org", "x1.example": "x1.example",
	} {
		if got, err := CheckHost(in); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{
		"", ".", "..", "a..b", "-a.org", "a-.org", "a b.org", "a/b", "a@b", "a\nb", "a%00", "127.1", "0x7f.1", "0x7f.0.0.1", "2130706433", "017700000001",
		"0177.0.0.1", "127.0.0.1.", "127.0.0.0x1", "1.2.3.4.5", "256.1.1.1", "１２７.0.0.1", "127。0。0。1", "fe80::1%eth0", "example.org:80", "exa mple",
		strings.Repeat("a", 64) + ".org", strings.Repeat("a.", 130) + "org", "0x", "example.0x7f",
	} {
		if got, err := CheckHost(in); err == nil && got != "127.0.0.1" {
			t.Errorf("%q was accepted as %q", in, got)
		}
	}
}

// names is a resolver that answers each look-up with the next of its answers.
type names struct {
	answers [][]string
	asked   int
	srv     []*net.SRV
}

func (n *names) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	if n.asked >= len(n.answers) {
		return nil, errors.New("asked too often")
	}
	var out []netip.Addr
	for _, a := range n.answers[n.asked] {
		out = append(out, netip.MustParseAddr(a))
	}
	n.asked++
	return out, nil
}

func (n *names) LookupSRV(context.Context, string, string, string) (string, []*net.SRV, error) {
	return "", n.srv, nil
}

func listen(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func anyPort(uint16) bool { return true }

func refused(t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[*ForbiddenError](err); !ok {
		t.Errorf("not refused: %v", err)
		return
	}
	if strings.Contains(err.Error(), "10.9.8.7") {
		t.Errorf("the refusal tells the address: %v", err)
	}
}

func TestNamesAreResolvedOnceAndCheckedWhole(t *testing.T) {
	port := listen(t)
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	good := &names{answers: [][]string{{"127.0.0.1"}, {"10.9.8.7"}}}
	conn, err := New(Config{Allow: loopback, Resolver: good}).DialContext(t.Context(), "tcp", "rebind.example.org:"+port, anyPort)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if good.asked != 1 {
		t.Errorf("%d look-ups for one dial", good.asked)
	}
	for _, answer := range [][]string{{"10.9.8.7"}, {"127.0.0.1", "10.9.8.7"}, {"127.0.0.1", "::1"}, {"127.0.0.2"}, {"::ffff:10.9.8.7"}} {
		g := New(Config{Allow: loopback, Resolver: &names{answers: [][]string{answer}}})
		_, err := g.DialContext(t.Context(), "tcp", "example.org:"+port, anyPort)
		refused(t, err)
	}
	_, err = New(Config{Resolver: &names{answers: [][]string{{}}}}).DialContext(t.Context(), "tcp", "example.org:"+port, anyPort)
	var dns *net.DNSError
	if !errors.As(err, &dns) || !dns.IsNotFound {
		t.Errorf("a name without addresses: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "refused_total", Help: "Refusals."})
	g := New(Config{Refused: counter, Resolver: &names{}})
	targets := []string{"127.0.0.1:25565", "[::1]:25565", "localhost:25565", "db.internal:25565", "printer.local:25565", "2130706433:25565", "no port", "8.8.8.8:22", "8.8.8.8:99999"}
	policy := func(p uint16) bool { return p == 25565 }
	for _, target := range targets {
		_, err := g.DialContext(t.Context(), "tcp", target, policy)
		refused(t, err)
	}
	if n := testutil.ToFloat64(counter); n != float64(len(targets)) {
		t.Errorf("%v refusals counted, want %d", n, len(targets))
	}
}

func TestControlChecksTheSocketItself(t *testing.T) {
	g := New(Config{})
	if err := g.control("tcp", "10.9.8.7:80", nil); err == nil {
		t.Error("a forbidden address passed the last check")
	}
	if err := g.control("tcp", "8.8.8.8:80", nil); err != nil {
		t.Error(err)
	}
}

func TestSRV(t *testing.T) {
	g := New(Config{Resolver: &names{srv: []*net.SRV{{Target: "node.example.org.", Port: 25577}, {Target: "other.example.org.", Port: 1}}}})
	target, port, err := g.LookupSRV(t.Context(), "minecraft", "tcp", "example.org")
	if err != nil || target != "node.example.org" || port != 25577 {
		t.Errorf("%s %d %v", target, port, err)
	}
	if target, _, err := New(Config{Resolver: &names{srv: []*net.SRV{{Target: "."}}}}).LookupSRV(t.Context(), "minecraft", "tcp", "example.org"); err != nil || target != "." {
		t.Errorf("no service: %q %v", target, err)
	}
	if _, _, err := New(Config{Resolver: &names{}}).LookupSRV(t.Context(), "minecraft", "tcp", "example.org"); err == nil {
		t.Error("no record at all is no error")
	}
	_, _, err = g.LookupSRV(t.Context(), "minecraft", "tcp", "127.1")
	refused(t, err)
}

func TestWebPorts(t *testing.T) {
	for p, want := range map[uint16]bool{80: true, 443: true, 8080: true, 8443: true, 22: false, 25: false, 6379: false, 0: false} {
		if WebPorts(p) != want {
			t.Errorf("port %d", p)
		}
	}
}

func FuzzCheckHost(f *testing.F) {
	for _, s := range []string{"example.org", "127.1", "0x7f.1", "[::1]", "１２７.0.0.1", "a_b.c", "xn--fsqu00a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, err := CheckHost(s)
		if err != nil {
			return
		}
		if _, err := netip.ParseAddr(name); err != nil && (!validName(name) || numeric(name[strings.LastIndex(name, ".")+1:])) {
			t.Errorf("%q came out as %q", s, name)
		}
		if again, err := CheckHost(name); err != nil || again != name {
			t.Errorf("%q is not stable: %q %v", name, again, err)
		}
	})
}
