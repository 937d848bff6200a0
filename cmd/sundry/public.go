package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"sundry/proxy/express"
	"sundry/proxy/listener"
	"sundry/proxy/secure"
)

// idleTime is how long idle connections stay open after the listener is closed,
// in case a request is under way on them.
const idleTime = time.Second

// public is the public listener with its server.
type public struct {
	*http.Server
	listener *listener.Listener
	lane     *express.Lane // nil: turned off
	accepts  net.Listener  // the listener, with the lane behind it
	served   chan struct{} // closed when no more connections are accepted
}

// newPublic returns a listener with its server. A nil c means that it does not speak TLS.
func newPublic(srv *http.Server, l *listener.Listener, lane *express.Lane, c *secure.Config) *public {
	p := &public{Server: srv, listener: l, lane: lane, served: make(chan struct{})}
	srv.ConnState = l.ConnState
	var accepts net.Listener = l
	if c != nil {
		srv.TLSConfig, srv.HTTP2 = c.TLS, secure.HTTP2()
		accepts = secure.Listen(l, *c)
	}
	if lane != nil {
		p.accepts = lane.Attach(srv, accepts)
	} else {
		p.accepts = express.Follow(srv, accepts)
	}
	return p
}

// drain leaves all requests to net/http, which closes each connection after its
// answer.
func (p *public) drain() {
	if p.lane != nil {
		p.lane.Drain()
	}
}

// run serves until the listener is closed.
func (p *public) run() error {
	defer close(p.served)
	if err := p.Serve(p.accepts); !p.listener.Closing() {
		return ignoreClosed(err)
	}
	return nil
}

// refuse closes the listener, and waits until it accepts no more connections. It does nothing for nil.
func (p *public) refuse(ctx context.Context) error {
	if p == nil {
		return nil
	}
	err := p.listener.Refuse()
	select {
	case <-p.served:
	case <-ctx.Done():
	}
	return err
}

// close closes the listener and its connections. It does nothing for nil.
func (p *public) close() error {
	if p == nil {
		return nil
	}
	return errors.Join(p.listener.Close(), p.Close())
}

// waitClosed waits until no connection is open.
func (p *public) waitClosed(ctx context.Context) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for p.listener.Connections() > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// shutDown waits for idle connections to be used for the last time, but no longer than
// idleTime, and then for requests in flight.
func (p *public) shutDown(ctx context.Context) error {
	idle, cancel := context.WithTimeout(ctx, idleTime)
	defer cancel()
	_ = p.waitClosed(idle)
	if err := p.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	// Shutdown does not know the answers of the lane, and looks at its connections twice a second: all may have ended since it looked.
	return p.waitClosed(ctx)
}
