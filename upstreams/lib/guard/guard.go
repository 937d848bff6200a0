// Package guard is the SSRF guard: every connection to a caller-supplied target is
// dialled by it. It promises that a connection goes only to a checked address: a
// name is resolved once, all its addresses must be public, and the connection is
// made to one of these, which is checked again on the socket just before it
// connects.
package guard

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/metrics/panics"
)

// Resolver is the part of *net.Resolver that the guard uses. Names are passed
// with a final dot, so that no search list of this machine applies to them.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
	LookupSRV(ctx context.Context, service, proto, name string) (string, []*net.SRV, error)
}

// Config of a Guard. The zero value refuses all targets that are not public.
type Config struct {
	// Allow lists ranges that may be reached though they are not public, for tests
	// and private networks.
	Allow []netip.Prefix
	// Resolver; nil means the system's, by Go's own client.
	Resolver Resolver
	// DialTimeout of one connection, if there are other addresses to try or nothing else
	// bounds it, and of one lookup; 0 means 3 s.
	DialTimeout time.Duration
	// Refused counts refusals; nil means that they are not counted.
	Refused prometheus.Counter
	// Web says which ports CheckURL and Client allow; nil means WebPorts.
	Web PortPolicy
	// Interfaces lists the addresses of this machine, which are never public
	// targets; nil means net.InterfaceAddrs.
	Interfaces func() ([]net.Addr, error)
	// Panics catches those of connecting, which net/http does beside a request.
	Panics *panics.Catcher
}

// Guard dials caller-supplied targets. It is safe for concurrent use.
type Guard struct {
	cfg   Config
	allow atomic.Pointer[[]netip.Prefix]
	own   ownAddresses
}

// PortPolicy reports whether a port may be connected to; nil allows none.
type PortPolicy func(port uint16) bool

// WebPorts are those of web servers: 80, 443, 8080 and 8443.
func WebPorts(p uint16) bool { return p == 80 || p == 443 || p == 8080 || p == 8443 }

// ForbiddenError is the refusal of a target. Its text never contains the address
// that a name resolved to.
type ForbiddenError struct {
	Target string // a host, host:port, or "URL" if no host can be recognised; as the caller wrote it
	Reason string
}

// Error quotes the target, cut at 300 characters because it is caller-supplied.
func (e *ForbiddenError) Error() string { return fmt.Sprintf("%.300q: %s", e.Target, e.Reason) }

// New makes a guard.
func New(cfg Config) *Guard {
	if cfg.Resolver == nil {
		cfg.Resolver = &net.Resolver{PreferGo: true}
	}
	if cfg.DialTimeout == 0 {
		cfg.DialTimeout = 3 * time.Second
	}
	if cfg.Web == nil {
		cfg.Web = WebPorts
	}
	if cfg.Interfaces == nil {
		cfg.Interfaces = net.InterfaceAddrs
	}
	g := &Guard{cfg: cfg}
	g.own.list = cfg.Interfaces
	g.own.contains(netip.Addr{}) // lists them before the first request
	g.Allow(cfg.Allow)
	return g
}

// Allow replaces the ranges of Config.Allow, for connections from now on.
func (g *Guard) Allow(ranges []netip.Prefix) { g.allow.Store(&ranges) }

func (g *Guard) allowed() []netip.Prefix { return *g.allow.Load() }

// permits reports whether an address may be connected to. An address with a zone
// is never in an allowed range.
func (g *Guard) permits(a netip.Addr) bool {
	return a.Zone() == "" && containsAddr(g.allowed(), a.Unmap()) || Public(a) && !g.own.contains(a)
}

// checkName checks the host of a target before it is resolved. The address is
// valid if the host is an address that may be reached.
func (g *Guard) checkName(host string) (name string, literal netip.Addr, err error) {
	name, err = CheckHost(host)
	if err != nil {
		return "", netip.Addr{}, g.refuse(host, err.Error())
	}
	if literal, err = netip.ParseAddr(name); err == nil {
		if !g.permits(literal) {
			return "", netip.Addr{}, g.refuse(host, "address is not allowed")
		}
		return name, literal, nil
	}
	if isLocal(name) || len(g.allowed()) == 0 && (isPrivate(name) || !strings.Contains(name, ".")) {
		return "", netip.Addr{}, g.refuse(host, "name of a private network")
	}
	return name, netip.Addr{}, nil
}

func (g *Guard) refuse(target, reason string) error {
	g.count()
	return &ForbiddenError{Target: target, Reason: reason}
}

func (g *Guard) count() {
	if g.cfg.Refused != nil {
		g.cfg.Refused.Inc()
	}
}
