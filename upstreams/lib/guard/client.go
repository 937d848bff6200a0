package guard

import (
	"context"
	"net"
	"net/http"
	"time"

	"sundry/metrics/panics"
)

// Bounds of one request, within the timeout of the client.
const (
	defaultTimeout = 10 * time.Second
	tlsTimeout     = 3 * time.Second
	headerTimeout  = 5 * time.Second
	idleTimeout    = 10 * time.Second
	maxHeaderBytes = 64 << 10
)

// Client makes a client for caller-supplied URLs. Each request is checked by CheckURL
// and dialled by the guard; a redirect is returned as the response. Proxies of the
// environment are not used: they would resolve and connect without the guard. It
// keeps no cookies. The bodies are unbounded: limit what you read. Close it with
// CloseIdleConnections.
//
// The timeout bounds everything, the body included; 0 means 10 s. A refusal is a
// *ForbiddenError within a *url.Error.
func (g *Guard) Client(timeout time.Duration) *http.Client {
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	next := &http.Transport{
		Proxy:                  nil,
		DialContext:            g.dialWeb,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    tlsTimeout,
		ResponseHeaderTimeout:  headerTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		MaxIdleConns:           16,
		MaxIdleConnsPerHost:    1, // a caller-supplied host is seldom requested twice
		IdleConnTimeout:        idleTimeout,
	}
	return &http.Client{Transport: &checkedTransport{guard: g, next: next}, CheckRedirect: NoRedirects, Timeout: timeout}
}

// dialWeb dials for a transport, in a goroutine of the transport's.
func (g *Guard) dialWeb(ctx context.Context, network, addr string) (conn net.Conn, err error) {
	defer g.cfg.Panics.Catch(panics.Dial, &err)
	return g.DialContext(ctx, network, addr, g.cfg.Web)
}

// NoRedirects makes a client return redirects in place of following them.
func NoRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// checkedTransport checks each request.
type checkedTransport struct {
	guard *Guard
	next  *http.Transport
}

// RoundTrip implements http.RoundTripper. The URL is sent as CheckURL returned it.
func (c *checkedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	u, err := c.guard.CheckURL(req.URL.String())
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	checked := req.WithContext(req.Context()) // a copy: a transport must not change its request
	checked.URL = u
	return c.next.RoundTrip(checked)
}

// CloseIdleConnections is called by http.Client.CloseIdleConnections.
func (c *checkedTransport) CloseIdleConnections() { c.next.CloseIdleConnections() }
