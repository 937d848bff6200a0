package through

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"sundry/metrics/panics"
	"sundry/upstreams/host"
	"sundry/upstreams/lib/redact"
)

// reach sends a request to the first address that answers, and once more, to the next address if there is one, where the status of the
// response is one of Retry.
func (c *call) reach(ctx context.Context, method string, h http.Header, body bool) (*http.Response, error) {
	targets := c.origin.inOrder()
	first, err := c.reachOne(ctx, method, h, body, targets)
	if err != nil || !c.mayRetry(targets[0].Host, method, first.StatusCode) {
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
func (c *call) mayRetry(asked *host.Host, method string, status int) bool {
	if c.r.ContentLength != 0 || method != http.MethodGet && method != http.MethodHead || !slices.Contains(c.Retry, status) {
		return false
	}
	return asked == nil || asked.AllowRetry()
}

// reachOne sends a request to the first of some addresses that answers. The next one is asked where nothing was sent (there was no
// connection, the breaker is open, or the quota used up), and where the connection was closed without a response to a request that may be
// repeated.
func (c *call) reachOne(ctx context.Context, method string, h http.Header, body bool, targets []Target) (*http.Response, error) {
	var last error
	for _, target := range targets {
		if target.Sent == "" {
			target.Sent, target.caller = cmp.Or(c.r.Host, target.own()), true
		}
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
		resp, err := c.sendTo(&target, r)
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
func (c *call) sendTo(target *Target, r *http.Request) (*http.Response, error) {
	if !c.Transfers.Take(c.client, 1) {
		return nil, ErrShed
	}
	began := time.Now()
	target.count(1)
	resp, err := c.admitted(target, r)
	if target.Observe != nil && r.Context().Err() == nil {
		target.Observe(failureOf(resp, err), time.Since(began))
	}
	if err != nil {
		c.endTransfer(target)
		return nil, err
	}
	resp.Body = &transfer{ReadCloser: resp.Body, call: c, target: target}
	return resp, nil
}

func (c *call) endTransfer(target *Target) {
	target.count(-1)
	c.Transfers.Give(c.client, 1)
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
	call   *call
	target *Target
	once   sync.Once
}

// Close implements io.Closer.
func (t *transfer) Close() error {
	defer t.once.Do(func() { t.call.endTransfer(t.target) })
	return t.ReadCloser.Close()
}

// admitted sends a request, if its breaker and its quota allow.
func (c *call) admitted(target *Target, r *http.Request) (*http.Response, error) {
	if target.Host == nil {
		return c.roundTrip(target, r)
	}
	within, done, err := target.Host.EnterFor(r.Context(), c.client, maphash.String(c.origin.seed, r.URL.Path))
	if err != nil {
		return nil, fmt.Errorf("host %s: %w", target.URL.Host, err)
	}
	if r.ContentLength != 0 {
		done = once(done)
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
	case r.Context().Err() == nil && nothingListens(err):
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

// once returns a function that reports the first health that it gets.
func once(report func(host.Health)) func(host.Health) {
	var first sync.Once
	return func(h host.Health) { first.Do(func() { report(h) }) }
}

// slow returns the health of a host that did not begin its response in time. If there is no other address, slow URLs must not keep clients
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
func (c *call) roundTrip(target *Target, r *http.Request) (*http.Response, error) {
	if q := target.Quota; q != nil {
		take := q.Take
		if c.spares {
			take = q.TakeToRefresh
		}
		if now := time.Now(); !take(r.Context(), now) {
			return nil, &host.ThrottledError{Quota: q.Name(), Wait: q.Wait(now)}
		}
	}
	transport := c.origin.transportOf(target)
	if isGRPC(r.Header) {
		r.Header["Te"] = []string{"trailers"} // or gRPC servers take this service for a proxy that loses trailers
	}
	switch {
	case target.HTTP2:
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

// isGRPC reports whether a request is a gRPC call, which is HTTP/2 with trailers.
func isGRPC(h http.Header) bool {
	rest, ok := strings.CutPrefix(h.Get("Content-Type"), "application/grpc")
	return ok && (rest == "" || rest[0] == '+' || rest[0] == ';')
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

// nothingListens reports whether a connection was refused, or the Unix socket does not exist. An application removes its socket when it ends.
func nothingListens(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT)
}

// isThrottled reports whether nothing was sent because the quota is used up.
func isThrottled(err error) bool {
	_, ok := errors.AsType[*host.ThrottledError](err)
	return ok
}
