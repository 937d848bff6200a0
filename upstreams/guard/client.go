package guard

import (
	"fmt"
	"net/http"
	"time"
)

// Bounds of one exchange, within the whole.
const (
	defaultTimeout = 10 * time.Second
	tlsTimeout     = 3 * time.Second
	headerTimeout  = 5 * time.Second
	idleTimeout    = 10 * time.Second
	maxHeaderBytes = 64 << 10
)

// Client makes a client for URLs that callers name. Each hop is held to
// CheckURL and dialled by the guard, past any proxy of the environment, which
// would connect in its stead. It keeps no cookies. The bodies are unbounded:
// cap what you read. Close it with CloseIdleConnections.
//
// The timeout bounds everything, the body and all redirects included; 0 means
// 10 s. With maxRedirects 0 a redirect is itself the answer; one more than a
// larger number is an error. A refusal is a *ForbiddenError within a *url.Error.
func (g *Guard) Client(timeout time.Duration, maxRedirects int) *http.Client {
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	next := &http.Transport{
		Proxy:                  nil,
		DialContext:            g.Dialer(g.cfg.Web),
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    tlsTimeout,
		ResponseHeaderTimeout:  headerTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		MaxIdleConns:           16,
		MaxIdleConnsPerHost:    1, // strangers' hosts are seldom asked twice
		IdleConnTimeout:        idleTimeout,
	}
	return &http.Client{Transport: &hop{guard: g, next: next}, CheckRedirect: atMost(maxRedirects), Timeout: timeout}
}

// atMost bounds redirects. Where they lead is checked by hop.
func atMost(redirects int) func(*http.Request, []*http.Request) error {
	return func(_ *http.Request, via []*http.Request) error {
		switch {
		case redirects <= 0:
			return http.ErrUseLastResponse
		case len(via) > redirects:
			return fmt.Errorf("stopped after %d redirects", redirects)
		}
		return nil
	}
}

// hop checks each request of a chain, the first like those that follow.
type hop struct {
	guard *Guard
	next  *http.Transport
}

// RoundTrip implements http.RoundTripper. What is sent is the URL as checked.
func (h *hop) RoundTrip(req *http.Request) (*http.Response, error) {
	u, err := h.guard.CheckURL(req.URL.String())
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	checked := req.WithContext(req.Context()) // a copy: a transport must not change what it is given
	checked.URL = u
	return h.next.RoundTrip(checked)
}

// CloseIdleConnections is found by http.Client.CloseIdleConnections.
func (h *hop) CloseIdleConnections() { h.next.CloseIdleConnections() }
