package guard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hidden is the address of names in these tests; no refusal may contain it.
const hidden = "10.9.8.7"

// names is a resolver that answers each lookup with the next of its answers.
type names struct {
	answers [][]string
	lookups []string
	srv     []*net.SRV
	srvErr  error
}

func (n *names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.lookups = append(n.lookups, host)
	if len(n.lookups) > len(n.answers) {
		return nil, errors.New("too many lookups")
	}
	var out []netip.Addr
	for _, a := range n.answers[len(n.lookups)-1] {
		out = append(out, netip.MustParseAddr(a))
	}
	return out, nil
}

func (n *names) LookupSRV(_ context.Context, service, proto, name string) (string, []*net.SRV, error) {
	n.lookups = append(n.lookups, "_"+service+"._"+proto+"."+name)
	return "", n.srv, n.srvErr
}

// loopback is one address alone, so that 127.0.0.2 stays forbidden.
func loopback() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} }

// listen returns the port of a listener on 127.0.0.1 that accepts by its backlog.
func listen(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

func anyPort(uint16) bool { return true }

// refused expects a ForbiddenError that does not contain the hidden address.
func refused(t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[*ForbiddenError](err); !ok {
		t.Errorf("not refused: %v", err)
		return
	}
	if strings.Contains(err.Error(), hidden) {
		t.Errorf("the refusal contains the address: %v", err)
	}
}

// notFound expects the error of a name that does not exist.
func notFound(t *testing.T, err error) {
	t.Helper()
	dns, ok := errors.AsType[*net.DNSError](err)
	if _, forbidden := errors.AsType[*ForbiddenError](err); !ok || !dns.IsNotFound || forbidden {
		t.Errorf("got %v, want no such host", err)
		return
	}
	if strings.Contains(err.Error(), hidden) {
		t.Errorf("the error contains the address: %v", err)
	}
}

func TestRefusalIsSafeToPrint(t *testing.T) {
	err := &ForbiddenError{Target: "a\nb" + strings.Repeat("x", 5000), Reason: "no"}
	if text := err.Error(); strings.Contains(text, "\n") || len(text) > 400 || !strings.HasSuffix(text, ": no") {
		t.Errorf("%d bytes: %.40q", len(text), text)
	}
}

func TestWebPorts(t *testing.T) {
	for p, want := range map[uint16]bool{80: true, 443: true, 8080: true, 8443: true, 22: false, 25: false, 6379: false, 0: false} {
		if WebPorts(p) != want {
			t.Errorf("port %d", p)
		}
	}
}
