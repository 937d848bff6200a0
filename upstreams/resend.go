package upstreams

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

// resent carries requests, and sends one once more whose kept connection ended before
// anything of a reply came: a service may close it at the moment that the request is
// sent. Sources only read, so that holds for a POST too, which net/http itself does not
// repeat. It is the same attempt, so quotas do not count it again.
type resent struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (r resent) RoundTrip(req *http.Request) (*http.Response, error) {
	var c connection
	resp, err := r.next.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), c.trace())))
	if err == nil || !c.endedBefore(err) || req.Context().Err() != nil {
		return resp, err
	}
	again := req.WithContext(req.Context())
	if req.Body != nil && req.Body != http.NoBody {
		if req.GetBody == nil {
			return nil, err
		}
		body, failed := req.GetBody()
		if failed != nil {
			return nil, err
		}
		again.Body = body
	}
	return r.next.RoundTrip(again)
}

// connection is that of a request: the last one, where net/http took several.
type connection struct{ kept, shared, replied atomic.Bool }

func (c *connection) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			secured, _ := info.Conn.(*tls.Conn)
			c.shared.Store(secured != nil && secured.ConnectionState().NegotiatedProtocol == "h2")
			c.kept.Store(info.Reused)
			c.replied.Store(false)
		},
		GotFirstResponseByte: func() { c.replied.Store(true) },
	}
}

// endedBefore reports whether a request failed because its connection, kept from another
// one, ended before a reply began. One that HTTP/2 shares among requests need not have
// ended.
func (c *connection) endedBefore(err error) bool {
	if !c.kept.Load() || c.replied.Load() {
		return false
	}
	op, ok := errors.AsType[*net.OpError](err)
	return !c.shared.Load() || ok && !op.Timeout() || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
