package through

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"time"

	"sundry/upstreams/host"
)

// dialFunc connects to an address.
type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// within limits the time that dial has.
func within(limit time.Duration, dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return dial(ctx, network, address)
	}
}

// toSocket returns a dialFunc that connects to a Unix socket if the host of the address names one.
func toSocket(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		name, _, _ := net.SplitHostPort(address) // net/http has joined it
		if path, ok := host.SocketOf(name); ok {
			network, address = "unix", path
		}
		return dial(ctx, network, address)
	}
}

// errHandshake means that no connection was made because TLS failed, for example for a certificate that is wrong.
var errHandshake = errors.New("TLS")

// dialTLS connects by TLS. A connection that speaks HTTP/1.1 has a filter that sees its plain text; net/http must get one that speaks
// HTTP/2 as it is.
func dialTLS(ctx context.Context, network, address string, dial dialFunc, base *tls.Config) (net.Conn, error) {
	plain, err := dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config := base.Clone()
	name, _, _ := net.SplitHostPort(address) // net/http has joined it
	config.ServerName = cmp.Or(config.ServerName, name)
	socket, in := openSocket(plain)
	conn := tls.Client(&headFilter{Conn: socket, in: newInbound(nil)}, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = plain.Close() // the handshake has failed, which is reported
		return nil, fmt.Errorf("%w: %w", errHandshake, err)
	}
	if conn.ConnectionState().NegotiatedProtocol == "h2" {
		return conn, nil
	}
	return &headFilter{Conn: conn, in: in}, nil
}

// withLastConnection returns a request with a body, which ends its connection in HTTP/1.1. An origin may respond without having read the
// body, and would take it for the next request on the connection. It is asked to close the connection, or it would
// still carry that out.
func withLastConnection(r *http.Request) *http.Request {
	h := r.Header
	return r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		GotConn: func(got httptrace.GotConnInfo) {
			delete(h, "Connection") // of an earlier attempt
			if c, ok := got.Conn.(*headFilter); ok {
				c.last.Store(true)
				h["Connection"] = []string{"close"}
			}
		},
	}))
}
