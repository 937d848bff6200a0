package main

import (
	"context"
	"net"
	"net/http"

	"sundry/upstreams"
)

// network is where a process listens, and connects to Redis, sources and origins.
type network struct {
	listen func(address string) (net.Listener, error)
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
}

// listenPublic opens the public listener.
func (s *server) listenPublic(ctx context.Context) (err error) {
	if s.process.network == nil {
		return s.listener.Open(ctx, s.config.Listen)
	}
	l, err := s.process.network.listen(s.config.Listen)
	s.listener.Use(l)
	return err
}

// listenAdmin opens the admin listener.
func (s *server) listenAdmin(ctx context.Context) (net.Listener, error) {
	if s.process.network == nil {
		return (&net.ListenConfig{}).Listen(ctx, "tcp", s.config.Admin)
	}
	return s.process.network.listen(s.config.Admin)
}

// dialer returns the function that connects to Redis; nil means that of the machine.
func (n *network) dialer() func(ctx context.Context, network, address string) (net.Conn, error) {
	if n == nil {
		return nil
	}
	return n.dial
}

// transport returns the transport to declared hosts.
func (n *network) transport() *http.Transport {
	t := upstreams.NewTransport()
	if n != nil {
		t.DialContext = n.dial
	}
	return t
}
