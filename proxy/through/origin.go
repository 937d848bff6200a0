package through

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"sundry/upstreams/host"
)

// Origin is where an API is served from: the first of its addresses that can be connected to.
type Origin struct {
	targets []Target
	seed    maphash.Seed
	transports
	balance    Balance
	isBalanced bool // the order of the addresses may differ from that of targets
	turn       atomic.Uint64
	health     Health
	checking   context.Context //nolint:containedctx // ends with Close
	stop       context.CancelFunc
}

// Target is an address of an origin.
type Target struct {
	URL *url.URL
	// HTTP2 is set if the address of an http URL speaks HTTP/2 without TLS, and no other version.
	HTTP2 bool
	// Sent is the Host that the address gets; "" means the Host of each request.
	Sent string
	// Host has its breaker; nil: there is none.
	Host *host.Host
	// Quota bounds the requests to it; nil: nothing does.
	Quota *host.Quota
	// Check holds the results of its health checks; nil means that it is not checked.
	Check *host.Check
	// outstanding is the number of requests until their responses have ended; nil means that they are not counted.
	outstanding *atomic.Int64
	// Observe is told of each request to it: why it was not answered, or a StatusError, and how long it took until then or until the head of
	// the answer; nil: nobody is.
	Observe func(err error, took time.Duration)
	caller  bool // Sent is the Host of the client's request
}

// NewOrigin returns the origin with these addresses. dial connects to one.
func NewOrigin(targets []Target, b Balance, health Health, c Connections, dial dialFunc) *Origin {
	o := &Origin{targets: targets, seed: maphash.MakeSeed(), transports: newTransports(&c, dial), balance: b, isBalanced: b != First && b != "", health: health}
	o.checking, o.stop = context.WithCancel(context.Background())
	for i := range targets {
		if b == Least {
			targets[i].outstanding = &atomic.Int64{}
		}
		o.isBalanced = o.isBalanced || targets[i].Check != nil
	}
	return o
}

// Close ends the health checks, and closes idle connections.
func (o *Origin) Close() {
	o.stop()
	o.transports.Close()
}

// under is the URL of an escaped path with its query at an address.
func under(target *url.URL, path string) (*url.URL, error) {
	u := *target
	path, query, asked := strings.Cut(path, "?")
	u.RawPath = strings.TrimSuffix(target.EscapedPath(), "/") + path
	var err error
	if u.Path, err = url.PathUnescape(u.RawPath); err != nil {
		return nil, fmt.Errorf("path of a request: %w", err)
	}
	u.RawQuery, u.ForceQuery = query, asked && query == ""
	return &u, nil
}

// request makes the request to an address.
func (o *Origin) request(ctx context.Context, method, path string, h http.Header, target Target) (*http.Request, error) {
	u, err := under(target.URL, path)
	if err != nil {
		return nil, err
	}
	r := &http.Request{Method: method, URL: u, Host: cmp.Or(target.Sent, target.own()), Header: h, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	return r.WithContext(ctx), nil
}

// authenticatesConnection reports whether an origin may take all that follows on the connection for the same user's (RFC 4559, section 6).
func authenticatesConnection(h http.Header) bool {
	scheme, _, _ := strings.Cut(h.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "NTLM") || strings.EqualFold(scheme, "Negotiate")
}

// below is a path without that of the address, which its own references have; false: it is not below that.
func (t *Target) below(path string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, strings.TrimSuffix(t.URL.EscapedPath(), "/"))
	if !ok || !strings.HasPrefix(rest, "/") {
		return path, false
	}
	return rest, true
}

// own returns the Host of the address itself, which is localhost for a Unix socket.
func (t *Target) own() string {
	if _, ok := host.SocketOf(t.URL.Host); ok {
		return "localhost"
	}
	return t.URL.Host
}

// isAt reports whether a URL is at the address.
func (t *Target) isAt(u *url.URL) bool {
	return u.Scheme == t.URL.Scheme && (strings.EqualFold(t.URL.Host, u.Host) || strings.EqualFold(t.Sent, u.Host))
}

// isCallers reports whether a URL has the Host by which the client has reached the API, if the origin got that Host.
func (t *Target) isCallers(u *url.URL) bool {
	return t.caller && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(t.Sent, u.Host)
}

// isTarget reports whether a host is one of the origin's addresses.
func (o *Origin) isTarget(name string) bool {
	for _, t := range o.targets {
		if strings.EqualFold(t.URL.Host, name) || strings.EqualFold(t.Sent, name) {
			return true
		}
	}
	return false
}
