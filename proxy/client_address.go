package proxy

import (
	"net/netip"
	"slices"
	"strings"

	"sundry/cache/clients"
	"sundry/proxy/uri"
)

// Forwarded names the header in which trusted proxies send the client's address. A
// header that they do not write themselves is passed on as the client sent it, and
// must not be believed.
type Forwarded string

// The headers. ByEither reads X-Forwarded-For, and Forwarded (RFC 7239) where that
// is missing: right for proxies that write X-Forwarded-For or remove both.
const (
	ByEither        Forwarded = "either"
	ByXForwardedFor Forwarded = "x-forwarded-for"
	ByForwarded     Forwarded = "forwarded"
)

// callerAddress returns the client's address: the peer's, unless that is a trusted
// proxy. Then it is the right-most hop of the header that is not trusted; the hops
// left of it may be forged. The lines are those of X-Forwarded-For and of Forwarded;
// an empty by is ByEither.
func callerAddress(peer netip.Addr, xForwardedFor, forwarded []string, trusted []netip.Prefix, by Forwarded) netip.Addr {
	if len(trusted) == 0 || !isTrusted(peer, trusted) {
		return peer
	}
	c := proxyChain{at: peer, trusted: trusted}
	if by == ByXForwardedFor || by != ByForwarded && len(xForwardedFor) > 0 {
		c.walk(xForwardedFor, c.hop)
	} else {
		c.walk(forwarded, c.element)
	}
	return c.at
}

// proxyChain goes from a trusted proxy towards the client, hop by hop.
type proxyChain struct {
	at      netip.Addr
	trusted []netip.Prefix
}

// hop goes to the next hop. It reports whether the way goes on from there: not from
// one that is not trusted, nor from what is no address, left of which all may be forged.
func (c *proxyChain) hop(text string) bool {
	addr := uri.ParseHop(text)
	if !addr.IsValid() {
		return false
	}
	c.at = addr
	return isTrusted(addr, c.trusted)
}

// walk takes the items of a list from the last one on, until one ends the way.
func (c *proxyChain) walk(lines []string, take func(item string) (goesOn bool)) {
	for _, line := range slices.Backward(lines) {
		for more := true; more; {
			var item string
			line, item, more = cutLast(line, ',')
			if !take(strings.TrimSpace(item)) {
				return
			}
		}
	}
}

// element goes to the hop that an element of Forwarded names. One without a for= ends the
// way: the proxy that wrote it does not say who called, and left of it all may be forged.
func (c *proxyChain) element(text string) bool {
	named := false
	for more := true; more; {
		var pair string
		text, pair, more = cutLast(text, ';')
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if !strings.EqualFold(name, "for") {
			continue
		}
		if !c.hop(strings.Trim(value, `"`)) {
			return false
		}
		named = true
	}
	return named
}

// cutLast cuts around the last separator; without one, all is the last part.
func cutLast(s string, separator byte) (before, last string, found bool) {
	if i := strings.LastIndexByte(s, separator); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return "", s, false
}

func isTrusted(a netip.Addr, trusted []netip.Prefix) bool {
	return a.IsValid() && slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(a) })
}

// clientOf returns the client of an address. A trusted proxy is Nobody: it asks on its own
// behalf, or names no client, and its share would be that of all clients behind it.
func (a *activeSettings) clientOf(addr netip.Addr) clients.ID {
	if isTrusted(addr, a.Trusted) {
		return clients.Nobody
	}
	return clients.Of(addr)
}

// ClientOf returns the client of a peer; a trusted proxy is Nobody.
func (s *Server) ClientOf(peer netip.Addr) clients.ID {
	return s.current.Load().settings.clientOf(peer)
}
