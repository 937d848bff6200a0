// Package guard is the only way in which a connection is dialled whose target
// comes from a caller. It promises that what is connected to was checked: a
// name is resolved once, every address of the answer must be public, and the
// connection goes to exactly such an address, checked again by the kernel's
// view of it just before it is made.
package guard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Resolver is what the guard needs of a *net.Resolver.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
	LookupSRV(ctx context.Context, service, proto, name string) (string, []*net.SRV, error)
}

// Config of a Guard. The zero value refuses everything that is not public.
type Config struct {
	// Allow opens ranges on purpose, for tests and private set-ups.
	Allow []netip.Prefix
	// Resolver; nil means the system's, by Go's own client.
	Resolver Resolver
	// DialTimeout of one connection; 0 means 3 s.
	DialTimeout time.Duration
	// Refused counts refusals; nil for nobody.
	Refused prometheus.Counter
}

// Guard dials what callers name. It is safe for concurrent use.
type Guard struct {
	cfg  Config
	dial net.Dialer
}

// PortPolicy says which ports may be connected to.
type PortPolicy func(port uint16) bool

// WebPorts are those of web servers.
func WebPorts(p uint16) bool { return p == 80 || p == 443 || p == 8080 || p == 8443 }

// ForbiddenError refuses a target. Its text never holds the address that a
// name led to.
type ForbiddenError struct {
	Target string // as the caller gave it
	Reason string
}

func (e *ForbiddenError) Error() string { return fmt.Sprintf("%s: %s", e.Target, e.Reason) }

// New makes a guard.
func New(cfg Config) *Guard {
	if cfg.Resolver == nil {
		cfg.Resolver = &net.Resolver{PreferGo: true}
	}
	if cfg.DialTimeout == 0 {
		cfg.DialTimeout = 3 * time.Second
	}
	g := &Guard{cfg: cfg}
	g.dial = net.Dialer{Timeout: cfg.DialTimeout, Control: g.control}
	return g
}

// control sees the address that the socket is about to be connected to.
func (g *Guard) control(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || !g.permits(ap.Addr()) {
		return g.refuse(address, "address must not be reached")
	}
	return nil
}

// permits tells whether an address may be connected to.
func (g *Guard) permits(a netip.Addr) bool {
	a = a.Unmap()
	for _, p := range g.cfg.Allow {
		if p.Contains(a.WithZone("")) {
			return true
		}
	}
	return Public(a)
}

func (g *Guard) refuse(target, reason string) error {
	if g.cfg.Refused != nil {
		g.cfg.Refused.Inc()
	}
	return &ForbiddenError{Target: target, Reason: reason}
}

// Resolve looks a host up once. One forbidden address among several forbids
// the name: such an answer is either a mistake or an attack.
func (g *Guard) Resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	name, err := CheckHost(host)
	if err != nil {
		return nil, g.refuse(host, err.Error())
	}
	if a, err := netip.ParseAddr(name); err == nil {
		if !g.permits(a) {
			return nil, g.refuse(host, "address must not be reached")
		}
		return []netip.Addr{a.Unmap()}, nil
	}
	if len(g.cfg.Allow) == 0 && isPrivate(name) {
		return nil, g.refuse(host, "name of a private network")
	}
	addrs, err := g.cfg.Resolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", host, err)
	}
	if len(addrs) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	for i, a := range addrs {
		addrs[i] = a.Unmap()
		if !g.permits(a) {
			return nil, g.refuse(host, "name leads to an address that must not be reached")
		}
	}
	return addrs, nil
}

// DialContext resolves, checks, and connects to the first checked address that
// answers. The error is a *ForbiddenError when the target is refused.
func (g *Guard) DialContext(ctx context.Context, network, addr string, ports PortPolicy) (net.Conn, error) {
	host, portText, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, g.refuse(addr, "not an address")
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil || !ports(uint16(port)) {
		return nil, g.refuse(addr, "port must not be reached")
	}
	addrs, err := g.Resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	var failed []error
	for _, a := range addrs {
		conn, err := g.dial.DialContext(ctx, network, netip.AddrPortFrom(a, uint16(port)).String())
		if err == nil {
			return conn, nil
		}
		failed = append(failed, err)
	}
	return nil, errors.Join(failed...)
}

// Dialer is DialContext with its ports settled.
func (g *Guard) Dialer(ports PortPolicy) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		return g.DialContext(ctx, network, addr, ports)
	}
}

// LookupSRV finds the best record of _service._proto.host. The target "." says
// that there is decidedly no such service (RFC 2782). What it leads to is
// checked when it is dialled, like any other target.
func (g *Guard) LookupSRV(ctx context.Context, service, proto, host string) (target string, port uint16, err error) {
	if _, err := CheckHost(host); err != nil {
		return "", 0, g.refuse(host, err.Error())
	}
	_, records, err := g.cfg.Resolver.LookupSRV(ctx, service, proto, host)
	if err != nil {
		return "", 0, fmt.Errorf("look up SRV of %s: %w", host, err)
	}
	if len(records) == 0 {
		return "", 0, &net.DNSError{Err: "no service", Name: host, IsNotFound: true}
	}
	if r := records[0]; r.Target != "." {
		return trimDot(r.Target), r.Port, nil
	}
	return ".", 0, nil
}
