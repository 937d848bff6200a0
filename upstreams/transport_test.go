package upstreams

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sundry/upstreams/lib/conntest"
)

// one is a listener of the connections that are sent to it.
type one chan net.Conn

// Accept implements net.Listener.
func (l one) Accept() (net.Conn, error) {
	if c, ok := <-l; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

// Close implements net.Listener.
func (l one) Close() error { return nil }

// Addr implements net.Listener.
func (l one) Addr() net.Addr { return &net.UnixAddr{} }

// TestAConnectionThatIsLost is given up, also where all calls go through it, as HTTP/2 has them.
func TestAConnectionThatIsLost(t *testing.T) {
	origin := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	origin.Close()
	synctest.Test(t, func(t *testing.T) {
		l, lost := make(one), &atomic.Bool{}
		server := &http.Server{TLSConfig: origin.TLS.Clone()}
		server.TLSConfig.NextProtos = nil
		go func() { _ = server.ServeTLS(l, "", "") }()
		transport := NewTransport()
		transport.Proxy, transport.TLSClientConfig = nil, &tls.Config{InsecureSkipVerify: true}
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			near, distant := net.Pipe()
			l <- distant
			lost = &atomic.Bool{}
			return conntest.Deaf{Conn: near, Is: lost}, nil
		}
		call := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "https://api.example.org/", http.NoBody)
			resp, err := transport.RoundTrip(r)
			if err == nil {
				_ = resp.Body.Close()
			}
			return err
		}
		if err := call(); err != nil {
			t.Fatal(err)
		}
		lost.Store(true)
		for range 3 {
			_ = call()
		}
		if err := call(); err != nil {
			t.Error(err)
		}
		transport.CloseIdleConnections()
		close(l)
		_ = server.Close()
	})
}
