package through

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"sundry/cache/web"
)

// Origin is where an API is served from: the first of its addresses that can be connected to.
type Origin struct {
	targets   []*url.URL
	transport http.RoundTripper
	via       string
}

// Timeouts of an origin.
type Timeouts struct {
	Connect time.Duration // to connect, TLS included
	Head    time.Duration // until the head of a response, once the request is sent
}

// NewOrigin serves from these addresses, in their order. dial connects to one.
func NewOrigin(targets []*url.URL, t Timeouts, keepAlive bool, dial func(ctx context.Context, network, address string) (net.Conn, error)) *Origin {
	return &Origin{targets: targets, via: "sundry", transport: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &headFilter{Conn: conn}, nil
		},
		TLSHandshakeTimeout: t.Connect, ResponseHeaderTimeout: t.Head, ForceAttemptHTTP2: true,
		DisableCompression: true, DisableKeepAlives: !keepAlive, MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute,
	}}
}

// under is the URL of a path, as it was spelled, with its query, at an address.
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
func (o *Origin) request(ctx context.Context, method, path string, h http.Header, target *url.URL) (*http.Request, error) {
	u, err := under(target, path)
	if err != nil {
		return nil, err
	}
	r := (&http.Request{Method: method, URL: u, Host: target.Host, Header: h, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}).WithContext(ctx)
	for name, lines := range h {
		if !httpguts.ValidHeaderFieldName(name) {
			return nil, fmt.Errorf("request field %q: not a name", name)
		}
		for _, line := range lines {
			if !httpguts.ValidHeaderFieldValue(line) {
				return nil, fmt.Errorf("request field %s: not a value", name)
			}
		}
	}
	return r, nil
}

// forwarded is the header that goes on to the origin: the caller's, without the fields of its connection, with where the
// request came through.
func (o *Origin) forwarded(caller *http.Request) http.Header {
	h := caller.Header.Clone()
	web.RemoveConnectionFields(h)
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = nil // or net/http adds its own
	}
	h["Via"] = append(h["Via"], fmt.Sprintf("%d.%d %s", caller.ProtoMajor, caller.ProtoMinor, o.via))
	if host, _, err := net.SplitHostPort(caller.RemoteAddr); err == nil {
		h["X-Forwarded-For"] = append(h["X-Forwarded-For"], host)
	}
	return h
}

// send sends a request to the first address that answers. A body is sent once: with one, only a failure to connect leads
// to the next address.
func (o *Origin) send(ctx context.Context, method string, caller *http.Request, path string, h http.Header, body bool) (*http.Response, error) {
	var last error
	for _, target := range o.targets {
		r, err := o.request(ctx, method, path, h, target)
		if err != nil {
			return nil, err
		}
		if body {
			r.Body, r.ContentLength, r.TransferEncoding, r.Trailer = caller.Body, caller.ContentLength, caller.TransferEncoding, caller.Trailer
		}
		resp, err := o.transport.RoundTrip(r)
		if err == nil {
			return resp, nil
		}
		if last = err; !notConnected(err) {
			break
		}
	}
	return nil, last
}

// notConnected reports whether nothing was sent because no connection was made.
func notConnected(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// isTarget reports whether a host is one of the origin's addresses.
func (o *Origin) isTarget(host string) bool {
	for _, t := range o.targets {
		if strings.EqualFold(t.Host, host) {
			return true
		}
	}
	return false
}

// Close ends the connections that rest.
func (o *Origin) Close() {
	if t, ok := o.transport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}
