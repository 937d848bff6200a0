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
)

// deaf is a connection through which nothing comes any more once it is, as behind a router that has forgotten it.
type deaf struct {
	net.Conn
	is *atomic.Bool
}

// Read implements net.Conn.
func (c deaf) Read(b []byte) (int, error) {
	for {
		if n, err := c.Conn.Read(b); err != nil || !c.is.Load() {
			return n, err
		}
	}
}

// Write implements net.Conn.
func (c deaf) Write(b []byte) (int, error) {
	if c.is.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

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
			return deaf{near, lost}, nil
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
