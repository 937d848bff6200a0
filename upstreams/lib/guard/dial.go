package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// maxTries bounds the addresses of one name that are dialled in turn: the owner of
// the name decides how many there are.
const maxTries = 3

// Resolve looks a host up once, and returns addresses that may be dialled. One
// forbidden address among several forbids the name: such an answer is either a
// mistake or an attack. The error is a *ForbiddenError if the host itself shows
// that it is not allowed, or wraps the *net.DNSError of the lookup. A name that
// resolves to a forbidden address gets the error of a name that does not exist:
// callers must not learn which internal names this machine's resolver knows.
func (g *Guard) Resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	name, literal, err := g.checkName(host)
	if err != nil {
		return nil, err
	}
	if literal.IsValid() {
		return []netip.Addr{literal}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, g.cfg.DialTimeout)
	defer cancel()
	found, err := g.cfg.Resolver.LookupNetIP(ctx, "ip", name+".")
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", name, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("look up %s: %w", name, noSuchHost(name))
	}
	addrs := make([]netip.Addr, len(found))
	for i, a := range found {
		if !g.permits(a) {
			g.count()
			return nil, fmt.Errorf("look up %s: address is not allowed, treated as not found: %w", name, noSuchHost(name))
		}
		addrs[i] = a.Unmap()
	}
	return addrs, nil
}

func noSuchHost(name string) *net.DNSError {
	return &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// DialContext resolves, checks, and connects to the first of at most three
// checked addresses that answers. The port must be one of ports, except in allowed
// ranges, where every port is allowed. The network is tcp, tcp4 or tcp6. The caller
// closes the connection. The error is a *ForbiddenError when the target is
// refused.
func (g *Guard) DialContext(ctx context.Context, network, addr string, ports PortPolicy) (net.Conn, error) {
	host, port, err := g.splitPort(network, addr)
	if err != nil {
		return nil, err
	}
	standard := ports != nil && ports(port)
	if !standard && len(g.allowed()) == 0 {
		return nil, g.refuse(addr, refusedPort)
	}
	addrs, err := g.Resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	if !standard && !g.allAllowed(addrs) {
		return nil, g.refuse(addr, refusedPort)
	}
	var failed []error
	addrs = addrs[:min(len(addrs), maxTries)]
	for i, a := range addrs {
		conn, err := g.connect(ctx, network, addr, netip.AddrPortFrom(a, port), g.timeout(ctx, len(addrs)-1-i))
		if err == nil {
			return conn, nil
		}
		if forbidden, ok := errors.AsType[*ForbiddenError](err); ok {
			return nil, forbidden // not wrapped: net adds the address
		}
		failed = append(failed, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(failed...)
}

const refusedPort = "port is not allowed"

// allAllowed reports whether all addresses are in the allowed ranges, where every
// port may be connected to.
func (g *Guard) allAllowed(addrs []netip.Addr) bool {
	return !slices.ContainsFunc(addrs, func(a netip.Addr) bool { return !containsAddr(g.allowed(), a.Unmap()) })
}

func (g *Guard) splitPort(network, addr string) (string, uint16, error) {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return "", 0, g.refuse(addr, "network is not TCP")
	}
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, g.refuse(addr, "not a host and a port")
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, g.refuse(addr, refusedPort)
	}
	return host, uint16(port), nil
}

// timeout bounds the connection to an address, so that time is left for the others; 0:
// the last one has all that ctx has.
func (g *Guard) timeout(ctx context.Context, others int) time.Duration {
	if _, ends := ctx.Deadline(); ends && others == 0 {
		return 0
	}
	return g.cfg.DialTimeout
}

// connect dials one address. The Control hook sees the address that the socket is
// about to connect to; its refusal names the target, not the address.
func (g *Guard) connect(ctx context.Context, network, target string, to netip.AddrPort, timeout time.Duration) (net.Conn, error) {
	d := net.Dialer{Timeout: timeout, Control: func(_, address string, _ syscall.RawConn) error {
		if ap, err := netip.ParseAddrPort(address); err != nil || !g.permits(ap.Addr()) {
			return g.refuse(target, "address is not allowed")
		}
		return nil
	}}
	return d.DialContext(ctx, network, to.String())
}

// Dialer is DialContext with a fixed port policy.
func (g *Guard) Dialer(ports PortPolicy) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		return g.DialContext(ctx, network, addr, ports)
	}
}

// LookupSRV returns the best record of _service._proto.host. The target "." means
// that the service is decidedly not available (RFC 2782). A record's target is as
// untrusted as the host: it is checked when it is dialled, and so is its port. An
// address has no records, and none are looked up.
func (g *Guard) LookupSRV(ctx context.Context, service, proto, host string) (target string, port uint16, err error) {
	name, literal, err := g.checkName(host)
	if err != nil {
		return "", 0, err
	}
	notFound := &net.DNSError{Err: "no service", Name: name, IsNotFound: true}
	if literal.IsValid() {
		return "", 0, notFound
	}
	ctx, cancel := context.WithTimeout(ctx, g.cfg.DialTimeout)
	defer cancel()
	_, records, err := g.cfg.Resolver.LookupSRV(ctx, service, proto, name+".")
	// Invalid records are reported as an error together with the valid ones.
	if err != nil && len(records) == 0 {
		return "", 0, fmt.Errorf("look up SRV of %s: %w", name, err)
	}
	if len(records) == 0 {
		return "", 0, notFound
	}
	// The first of the best, since a *net.Resolver has shuffled them by weight.
	best := slices.MinFunc(records, func(a, b *net.SRV) int { return cmp.Compare(a.Priority, b.Priority) })
	if best.Target == "." {
		return ".", 0, nil
	}
	return trimDot(best.Target), best.Port, nil
}
