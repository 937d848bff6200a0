package proxy

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sundry/cache/clients"
	"sundry/proxy/uri"
)

// proxyWatch finds a proxy in front of this service that is missing in trusted_proxies: a peer that names several clients. It is asked
// until it has found one. Its memory is fixed, whatever peers send.
type proxyWatch struct {
	found atomic.Bool
	mu    sync.Mutex
	peers [16]namingPeer
	next  int // of peers, to be replaced by another peer
}

// namingPeer is a peer whose requests name clients, with the first clients that it named.
type namingPeer struct {
	address netip.Addr
	since   time.Time
	named   [namedByProxy - 1]clients.ID // Nobody means none
}

const (
	// namedByProxy is how many clients a proxy names. A single client behind a proxy of its own is one; it may change its address.
	namedByProxy = 3
	// namedWithin is the time for that.
	namedWithin = time.Hour
)

// note takes a client that a peer names, and reports whether the peer looks like a proxy. It reports that once. While another
// request is noted, it does nothing: a proxy sends more requests.
func (w *proxyWatch) note(peer, client netip.Addr, now time.Time) bool {
	if !w.mu.TryLock() {
		return false
	}
	defer w.mu.Unlock()
	p := w.peer(peer, now)
	who := clients.Of(client)
	for i, known := range p.named {
		switch known {
		case who:
			return false
		case clients.Nobody:
			p.named[i] = who
			return false
		}
	}
	return w.found.CompareAndSwap(false, true)
}

// peer returns the place of a peer, which may have been another's, or may have been noted too long ago.
func (w *proxyWatch) peer(address netip.Addr, now time.Time) *namingPeer {
	i := slices.IndexFunc(w.peers[:], func(p namingPeer) bool { return p.address == address })
	if i < 0 {
		i = w.next
		w.next = (w.next + 1) % len(w.peers)
	}
	p := &w.peers[i]
	if p.address != address || now.Sub(p.since) > namedWithin {
		*p = namingPeer{address: address, since: now}
	}
	return p
}

// warnOfProxy logs a warning, once until trusted_proxies changes, when requests come from what looks like a proxy that is missing
// there. Only requests that net/http reads are looked at, so hits in the express lane cost nothing: a proxy has misses too, and one in
// log_hits of its hits is left to net/http.
func (s *Server) warnOfProxy(r *http.Request) {
	forwardedFor, forwarded := r.Header["X-Forwarded-For"], r.Header["Forwarded"]
	if forwardedFor == nil && forwarded == nil {
		return
	}
	settings := s.current.Load().settings
	if settings.proxies.found.Load() {
		return
	}
	peer := uri.ParseHop(r.RemoteAddr)
	if !peer.IsValid() || isTrusted(peer, settings.Trusted) {
		return
	}
	client := lastHop(peer, forwardedFor, forwarded)
	if client == peer || isInternal(client) && !isInternal(peer) || !settings.proxies.note(peer, client, time.Now()) {
		return
	}
	s.cfg.Log.Warn("a peer looks like a proxy in front of this service that is not trusted: all clients behind it share one rate limit and count as one client, "+
		"and logs of origins and X-Forwarded-For have its address in the place of theirs. If it is yours, name it in the settings",
		"proxy", peer, "setting", trustedWith(settings.Trusted, peer))
}

// lastHop returns the address that a peer itself has written: what is left of it may come from a client. It is the peer's where there
// is none.
func lastHop(peer netip.Addr, forwardedFor, forwarded []string) netip.Addr {
	c := proxyChain{at: peer}
	if forwardedFor != nil {
		c.walk(forwardedFor, c.hop)
	} else {
		c.walk(forwarded, c.element)
	}
	return c.at
}

// isInternal reports whether an address is one of an internal network. A public peer that names such clients is their way out, such as
// the proxy of a company, and not in front of this service.
func isInternal(a netip.Addr) bool { return a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() }

// trustedWith is the setting with one proxy more.
func trustedWith(trusted []netip.Prefix, proxy netip.Addr) string {
	var b strings.Builder
	b.WriteString("trusted_proxies: [")
	for _, p := range trusted {
		b.WriteString(inYAML(p.Addr(), p.String()) + ", ")
	}
	return b.String() + inYAML(proxy, proxy.String()) + "]"
}

// inYAML quotes the text of an IPv6 address, which may begin with a colon.
func inYAML(a netip.Addr, text string) string {
	if a.Is6() {
		return `"` + text + `"`
	}
	return text
}
