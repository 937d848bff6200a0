package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache/clients"
	"sundry/proxy/listener"
)

// pipeAddr is the address of a client on a pipe.
type pipeAddr struct{ net.Conn }

// RemoteAddr implements net.Conn.
func (pipeAddr) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4000} }

// pipeListener accepts the connections that are sent to it.
type pipeListener struct {
	conns chan net.Conn
	ended context.Context
	end   context.CancelFunc
}

// Accept implements net.Listener.
func (l pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.ended.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l pipeListener) Close() error { l.end(); return nil }

// Addr implements net.Listener.
func (l pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// TestShutDownAtItsLimit: net/http looks at its connections twice a second, so that its Shutdown may fail although the last request has
// ended in time.
func TestShutDownAtItsLimit(t *testing.T) {
	for name, row := range map[string]struct {
		takes time.Duration
		want  error
	}{
		"a request that ends just before":  {9999 * time.Millisecond, nil},
		"a request that ends a bit before": {9800 * time.Millisecond, nil},
		"a request that takes too long":    {10001 * time.Millisecond, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended, end := context.WithCancel(t.Context())
				accepts := pipeListener{make(chan net.Conn), ended, end}
				l := listener.New(func(netip.Addr) clients.ID { return clients.Nobody }, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
				l.Use(accepts)
				p := newPublic(&http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(row.takes) })}, l, nil, nil)
				go func() { _ = p.run() }()
				client, server := net.Pipe()
				accepts.conns <- pipeAddr{server}
				go func() {
					_, _ = io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
					_, _ = http.ReadResponse(bufio.NewReader(client), nil)
				}()
				synctest.Wait()
				_ = p.refuse(t.Context())
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				if err := p.shutDown(ctx); !errors.Is(err, row.want) {
					t.Errorf("%v, want %v", err, row.want)
				}
				_ = p.Close()
				client.Close()
				time.Sleep(time.Second)
			})
		})
	}
}
