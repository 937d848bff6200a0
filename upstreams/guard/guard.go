// Package guard is the only way in which a connection is dialled whose target
// comes from a caller. It promises that what is connected to was checked: a
// name is resolved once, every address of the answer must be public, and the
// connection goes to exactly such an address, which is checked again on the
// socket just before it connects.
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
)

// Resolver is what the guard needs of a *net.Resolver. Names are passed with
// their final dot, so that no search list of this machine applies to them.
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
	// DialTimeout of one connection, and of one look-up; 0 means 3 s.
	DialTimeout time.Duration
	// Refused counts refusals; nil for nobody.
	Refused prometheus.Counter
	// Web are the ports of CheckURL and Client; nil means WebPorts.
	Web PortPolicy
	// Interfaces lists the addresses of this machine, which are inner ones
	// wherever they lie; nil means net.InterfaceAddrs.
	Interfaces func() ([]net.Addr, error)
}

// Guard dials what callers name. It is safe for concurrent use.
type Guard struct {
	cfg   Config
	allow atomic.Pointer[[]netip.Prefix]
	own   own
}

// PortPolicy says which ports may be connected to; nil permits none.
type PortPolicy func(port uint16) bool

// WebPorts are those of web servers: 80, 443, 8080 and 8443.
func WebPorts(p uint16) bool { return p == 80 || p == 443 || p == 8080 || p == 8443 }

// ForbiddenError refuses a target. Its text never holds the address that a
// name led to.
type ForbiddenError struct {
	Target string // a host, host:port, or "URL" where no host can be made out; as the caller gave it
	Reason string
}

// Error quotes the target and cuts it at 300 characters: strangers chose it.
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
	g.own.has(netip.Addr{}) // before anybody asks
	g.Allow(cfg.Allow)
	return g
}

// Allow puts ranges in the place of Config.Allow, for connections from now on.
func (g *Guard) Allow(ranges []netip.Prefix) { g.allow.Store(&ranges) }

func (g *Guard) allowed() []netip.Prefix { return *g.allow.Load() }

// permits tells whether an address may be connected to. An address with a zone
// is never in an opened range.
func (g *Guard) permits(a netip.Addr) bool {
	return a.Zone() == "" && within(a.Unmap(), g.allowed()) || Public(a) && !g.own.has(a)
}

// named checks what a target is called, before anybody is asked about it. The
// address is valid when the target is one and may be reached.
func (g *Guard) named(host string) (name string, literal netip.Addr, err error) {
	name, err = CheckHost(host)
	if err != nil {
		return "", netip.Addr{}, g.refuse(host, err.Error())
	}
	if literal, err = netip.ParseAddr(name); err == nil {
		if !g.permits(literal) {
			return "", netip.Addr{}, g.refuse(host, "address must not be reached")
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
