package through

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"sundry/cache/clients"
	"sundry/cache/web"
	"sundry/metrics/panics"
	"sundry/upstreams/host"
	"sundry/upstreams/lib/redact"
)

// via is what this service calls itself in Via.
const via = "sundry"

// addVia adds this service to the Via of a message that it received in a version of HTTP.
func (h *Handler) addVia(to http.Header, version string) {
	if !h.NoVia {
		to["Via"] = append(slices.Clip(to["Via"]), version+" "+via)
	}
}

// Origin is where an API is served from: the first of its addresses that can be connected to.
type Origin struct {
	targets   []Target
	transport *http.Transport
	brief     *http.Transport // is for requests that cannot be repeated
	upgrade   *http.Transport // for requests that change the protocol, which HTTP/2 cannot
	seed      maphash.Seed
}

// Target is an address of an origin.
type Target struct {
	URL *url.URL
	// Sent is the Host that it is asked for.
	Sent string
	// Host has its breaker; nil: there is none.
	Host *host.Host
	// Quota bounds the requests to it; nil: nothing does.
	Quota *host.Quota
	// Observe is told of each request to it: why it was not answered, or a StatusError, and how long it took until then or until the head of
	// the answer; nil: nobody is.
	Observe func(err error, took time.Duration)
}

// Timeouts of an origin.
type Timeouts struct {
	Connect time.Duration // to connect, TLS included
	Head    time.Duration // until the head of a response, once the request is sent
}

// NewOrigin serves from these addresses, in their order. dial connects to one.
func NewOrigin(targets []Target, t Timeouts, keepAlive bool, dial dialFunc) *Origin {
	dial = within(t.Connect, dial)              // or it is the system's two minutes
	sessions := tls.NewLRUClientSessionCache(0) // a connection for each upload takes no full handshake
	resting := func(most time.Duration, http2 bool) *http.Transport {
		transport := &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dial(ctx, network, address)
				if err != nil {
					return nil, err
				}
				return newHeadFilter(conn), nil
			},
			ResponseHeaderTimeout: t.Head, ForceAttemptHTTP2: http2,
			DisableCompression: true, DisableKeepAlives: !keepAlive, MaxIdleConnsPerHost: 64, IdleConnTimeout: most,
			MaxResponseHeaderBytes: maxHead, HTTP2: host.HTTP2(), TLSClientConfig: &tls.Config{ClientSessionCache: sessions},
		}
		transport.DialTLSContext = within(t.Connect, func(ctx context.Context, network, address string) (net.Conn, error) {
			return dialTLS(ctx, network, address, dial, transport.TLSClientConfig)
		})
		return transport
	}
	return &Origin{
		targets: targets, seed: maphash.MakeSeed(),
		transport: resting(time.Minute, true), brief: resting(briefly, true), upgrade: resting(briefly, false),
	}
}

// briefly is how long a connection rests that such requests go by. Origins close theirs after 2 s (gunicorn), or 5 s (Node, Apache): what
// is on its way then is lost, and net/http repeats only what changes nothing and has no body.
const briefly = time.Second

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
	r := &http.Request{Method: method, URL: u, Host: target.Sent, Header: h, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	return r.WithContext(ctx), nil
}

// authenticatesConnection reports whether an origin may take all that follows on the connection for the same user's (RFC 4559, section 6).
func authenticatesConnection(h http.Header) bool {
	scheme, _, _ := strings.Cut(h.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "NTLM") || strings.EqualFold(scheme, "Negotiate")
}

// heard is a request with the fields that go on to the origin, and by which its answer is stored: without those of its
// connection, and without what others than trusted proxies say of where it comes from, or for what it was before: an origin
// might believe it, and its answer is for all.
func (h *Handler) heard(r *http.Request, trusted bool) *http.Request {
	leftOut := func(name string, _ []string) bool { return !IsHeard(name, trusted) || isDisguised(name) }
	if !web.HasConnectionFields(r.Header) && !hasField(r.Header, leftOut) {
		return r
	}
	next := r.WithContext(r.Context())
	next.Header = r.Header.Clone()
	web.RemoveConnectionFields(next.Header)
	maps.DeleteFunc(next.Header, leftOut)
	return next
}

func hasField(h http.Header, which func(name string, lines []string) bool) bool {
	for name, lines := range h {
		if which(name, lines) {
			return true
		}
	}
	return false
}

// IsHeard reports whether a request field of web.Routing goes on to the origin, and so selects a response.
func IsHeard(name string, trusted bool) bool { return trusted || !isProxys(name) }

// isProxys reports whether a request field is one that proxies set.
func isProxys(name string) bool {
	return strings.HasPrefix(name, "X-Forwarded-") || name == "Forwarded" || slices.Contains(addressFields[:], name) ||
		web.IsRouting(name) && !strings.Contains(name, "Method")
}

// addressFields are the fields in which proxies and content delivery networks tell an origin the address of the client.
var addressFields = [...]string{
	"X-Real-Ip", "X-Client-Ip", "Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip", "X-Cluster-Client-Ip", "Fastly-Client-Ip",
	"X-Azure-Clientip", "X-Azure-Socketip", "X-Proxyuser-Ip", "X-Appengine-User-Ip", "X-Envoy-External-Address",
}

// isDisguised reports whether a field may be taken for such a one: trusted proxies send none like it.
func isDisguised(name string) bool {
	plain, ok := web.Undisguised(name)
	return ok && (isProxys(plain) || web.IsRouting(plain))
}

// forwarded is the header that goes on to the origin, of a request that is heard, with where it came through.
func (c *call) forwarded() http.Header {
	caller, h := c.r, c.r.Header.Clone()
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = nil // or net/http adds its own
	}
	c.addVia(h, strings.TrimPrefix(caller.Proto, "HTTP/"))
	if peer, _, err := net.SplitHostPort(caller.RemoteAddr); err == nil {
		h["X-Forwarded-For"] = append(h["X-Forwarded-For"], peer)
	}
	if id := c.LoopID(); id != "" {
		h["Cdn-Loop"] = append(h["Cdn-Loop"], id)
	}
	if c.id != "" {
		h["X-Request-Id"] = []string{c.id}
	}
	if c.upgrade != nil {
		h["Connection"], h["Upgrade"] = []string{"Upgrade"}, c.upgrade
	}
	c.Request(h)
	if c.upgrade != nil {
		spellAsRFC(h)
	}
	return h
}

// reach sends a request to the first address that answers, and once more, to the next address if there is one, where the status of the
// response is one of Retry.
func (c *call) reach(ctx context.Context, method string, h http.Header, body bool) (*http.Response, error) {
	targets := c.origin.targets
	first, err := c.reachOne(ctx, method, h, body, targets)
	if err != nil || !c.mayRetry(method, first.StatusCode) {
		return first, err
	}
	second, err := c.reachOne(ctx, method, h, body, append(slices.Clone(targets[1:]), targets[0]))
	if err != nil {
		return first, nil //nolint:nilerr // it is an answer
	}
	_ = first.Body.Close() // nobody reads it
	return second, nil
}

// mayRetry reports whether a request is sent again after a response with a status. A host that is down gets few more requests by that.
func (c *call) mayRetry(method string, status int) bool {
	if c.r.ContentLength != 0 || method != http.MethodGet && method != http.MethodHead || !slices.Contains(c.Retry, status) {
		return false
	}
	host := c.origin.targets[0].Host
	return host == nil || host.AllowRetry()
}

// reachOne sends a request to the first of some addresses that answers. The next one is asked where nothing was sent (there was no
// connection, the breaker is open, or the quota used up), and where the connection was closed without a response to a request that may be
// repeated.
func (c *call) reachOne(ctx context.Context, method string, h http.Header, body bool, targets []Target) (*http.Response, error) {
	var last error
	for _, target := range targets {
		r, err := c.origin.request(ctx, method, c.path, h, target)
		if err != nil {
			return nil, err
		}
		if to := c.r.Header["Destination"]; len(to) == 1 {
			h["Destination"] = []string{c.destinationAt(to[0], c.r.Host, &target)}
		}
		if body {
			r.Body, r.ContentLength, r.TransferEncoding, r.Trailer = c.r.Body, c.r.ContentLength, c.r.TransferEncoding, c.r.Trailer
		}
		resp, err := c.sendTo(target, r)
		if err == nil {
			c.relocate(resp.Header, &target)
			return resp, nil
		}
		again := notConnected(err) || isClosed(err) && repeats(method) && c.r.ContentLength == 0
		if last = err; !again {
			break
		}
	}
	return nil, last
}

// sendTo sends a request to one address. A connection that cannot be made and an answer that does not begin in time count
// against its breaker; whatever an answer says does not: it is the API's. The body of the response is a *transfer.
func (c *call) sendTo(target Target, r *http.Request) (*http.Response, error) {
	if !c.Transfers.Take(c.client, 1) {
		return nil, ErrShed
	}
	began := time.Now()
	resp, err := c.admitted(target, r)
	if target.Observe != nil && r.Context().Err() == nil {
		target.Observe(failureOf(resp, err), time.Since(began))
	}
	if err != nil {
		c.Transfers.Give(c.client, 1)
		return nil, err
	}
	resp.Body = &transfer{ReadCloser: resp.Body, end: sync.OnceFunc(func() { c.Transfers.Give(c.client, 1) })}
	return resp, nil
}

// StatusError is a status by which an API says that it has failed, or that it is asked too often.
type StatusError int

// Error implements error.
func (e StatusError) Error() string { return "the API has answered " + strconv.Itoa(int(e)) }

// failureOf returns the error of a request, or the StatusError of its response. nil means success.
func failureOf(resp *http.Response, err error) error {
	if err == nil && (resp.StatusCode >= http.StatusInternalServerError || resp.StatusCode == http.StatusTooManyRequests) {
		return StatusError(resp.StatusCode)
	}
	return err
}

// transfer is the body of a response, which counts among Transfers until it is closed.
type transfer struct {
	io.ReadCloser
	end func()
}

// Close implements io.Closer.
func (t *transfer) Close() error {
	defer t.end()
	return t.ReadCloser.Close()
}

// admitted sends a request, if its breaker and its quota allow.
func (c *call) admitted(target Target, r *http.Request) (*http.Response, error) {
	o := c.origin
	if target.Host == nil {
		return c.roundTrip(target, r)
	}
	within, report, err := target.Host.Enter(clients.With(r.Context(), c.client), maphash.String(o.seed, r.URL.Path))
	if err != nil {
		return nil, fmt.Errorf("host %s: %w", target.URL.Host, err)
	}
	var once sync.Once
	done := func(h host.Health) { once.Do(func() { report(h) }) }
	if r.ContentLength != 0 {
		defer context.AfterFunc(within, c.panics.Func(panics.Request, func() {
			if c.sends(r.Body) { // for as long as it likes, and nobody else would get through to a host that is probed
				done(host.Ignored)
			}
		}))()
	}
	resp, err := c.roundTrip(target, r)
	switch {
	case err == nil:
		done(host.Healthy)
	case r.Context().Err() == nil && errors.Is(err, syscall.ECONNREFUSED):
		done(host.Down)
	case r.Context().Err() == nil && !isThrottled(err) && notConnected(err):
		done(host.Failing)
	case r.Context().Err() == nil && !isThrottled(err) && isTimeout(err):
		done(c.slow())
	default:
		done(host.Ignored)
	}
	return resp, err
}

// slow returns what a response that does not begin in time says about its host. If there is no other address, slow URLs must not keep clients
// from all other URLs.
func (c *call) slow() host.Health {
	if len(c.origin.targets) == 1 {
		return host.Slow
	}
	return host.Failing
}

// sends reports whether a body is being sent. Else it is the host that is waited for.
func (c *call) sends(body io.Reader) bool {
	u, ok := body.(*upload)
	return c.connected.Load() && (!ok || !u.ended.Load())
}

// roundTrip sends a request, if its quota allows. The error may be a host.ThrottledError.
func (c *call) roundTrip(target Target, r *http.Request) (*http.Response, error) {
	if q := target.Quota; q != nil {
		take := q.Take
		if c.spares {
			take = q.TakeToRefresh
		}
		if now := time.Now(); !take(r.Context(), now) {
			return nil, &host.ThrottledError{Quota: q.Name(), Wait: q.Wait(now)}
		}
	}
	transport := c.origin.transport
	switch {
	case r.Header["Upgrade"] != nil:
		transport = c.origin.upgrade
	case r.ContentLength != 0:
		transport, r = c.origin.brief, withLastConnection(r)
	case !repeats(r.Method):
		transport = c.origin.brief
	}
	r.Close = authenticatesConnection(r.Header)
	c.connected.Store(false)
	began := time.Now()
	resp, err := transport.RoundTrip(r)
	c.waited.Add(int64(time.Since(began)))
	if err != nil {
		return nil, redact.WithoutQuotes(err)
	}
	if err = checkFraming(resp); err == nil && len(resp.Header) > maxFields {
		err = errFields
	}
	if err != nil {
		_ = resp.Body.Close() // given up
		return nil, err
	}
	return resp, nil
}

// repeats reports whether net/http sends a request without a body again after its connection was closed.
func repeats(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// isClosed reports whether a connection was closed before a response began.
func isClosed(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) }

// notConnected reports whether nothing was sent because no connection was made.
func notConnected(err error) bool {
	if errors.Is(err, host.ErrRejected) || errors.Is(err, errHandshake) || isThrottled(err) {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// isThrottled reports whether nothing was sent because the quota is used up.
func isThrottled(err error) bool {
	_, ok := errors.AsType[*host.ThrottledError](err)
	return ok
}

// below is a path without that of the address, which its own references have; false: it is not below that.
func (t *Target) below(path string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, strings.TrimSuffix(t.URL.EscapedPath(), "/"))
	if !ok || !strings.HasPrefix(rest, "/") {
		return path, false
	}
	return rest, true
}

// isAt reports whether a URL is at the address.
func (t *Target) isAt(u *url.URL) bool {
	return u.Scheme == t.URL.Scheme && (strings.EqualFold(t.URL.Host, u.Host) || strings.EqualFold(t.Sent, u.Host))
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

// Close ends the connections that rest.
func (o *Origin) Close() {
	o.transport.CloseIdleConnections()
	o.brief.CloseIdleConnections()
	o.upgrade.CloseIdleConnections()
}
