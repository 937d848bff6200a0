package guard

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
)

// LookupSRV finds the best record of _service._proto.host. The target "." says
// that there is decidedly no such service (RFC 2782). What a record leads to is
// as little trusted as the host: it is checked when it is dialled, its port
// too. An address has no records, and nobody is asked for them.
func (g *Guard) LookupSRV(ctx context.Context, service, proto, host string) (target string, port uint16, err error) {
	name, literal, err := g.named(host)
	if err != nil {
		return "", 0, err
	}
	none := &net.DNSError{Err: "no service", Name: name, IsNotFound: true}
	if literal.IsValid() {
		return "", 0, none
	}
	ctx, cancel := context.WithTimeout(ctx, g.cfg.DialTimeout)
	defer cancel()
	_, records, err := g.cfg.Resolver.LookupSRV(ctx, service, proto, name+".")
	// Records with impossible names are an error beside the good ones.
	if err != nil && len(records) == 0 {
		return "", 0, fmt.Errorf("look up SRV of %s: %w", name, err)
	}
	if len(records) == 0 {
		return "", 0, none
	}
	// The first of the best: a *net.Resolver has shuffled them by weight.
	best := slices.MinFunc(records, func(a, b *net.SRV) int { return cmp.Compare(a.Priority, b.Priority) })
	if best.Target == "." {
		return ".", 0, nil
	}
	return trimDot(best.Target), best.Port, nil
}
