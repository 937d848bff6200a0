package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"sundry/metrics/panics"
	"sundry/proxy/express"
)

const (
	// idleTime is how long idle connections stay open after the listener is closed,
	// in case a request is under way on them.
	idleTime = time.Second
	// closeTime bounds the closing of the admin listener, and that of fills and
	// writes to Redis.
	closeTime = 2 * time.Second
)

// errUrgent is returned by a server that a second signal stopped at once.
var errUrgent = errors.New("stopped at once by a second signal: requests in flight were cut off")

// public is the public listener with its server.
type public struct {
	*http.Server
	gate     *gate
	lane     *express.Lane // nil: turned off
	listener net.Listener  // the gate, with the lane behind it
	served   chan struct{} // closed when no more connections are accepted
}

func newPublic(srv *http.Server, g *gate, lane *express.Lane) *public {
	p := &public{Server: srv, gate: g, lane: lane, listener: g, served: make(chan struct{})}
	srv.ConnState = func(nc net.Conn, state http.ConnState) { g.connections.note(nc, state, time.Now()) }
	if lane != nil {
		p.listener = lane.Attach(srv, g)
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

// run serves until the gate is closed.
func (p *public) run() error {
	defer close(p.served)
	if err := p.Serve(p.listener); !p.gate.closed.Load() {
		return ignoreClosed(err)
	}
	return nil
}

// waitClosed waits until no connection is open.
func (p *public) waitClosed(ctx context.Context) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for p.gate.connections.n.Load() > 0 {
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
	if err := p.Shutdown(ctx); err != nil {
		return err
	}
	return p.waitClosed(ctx) // for answers of the lane, which Shutdown knows nothing of
}

// drain stops the service without failing a request. First this instance says
// that it is not ready, but answers as before, with each answer as the last of
// its connection: load balancers that ask /readyz choose other instances, and
// clients with open connections let go of them. Then the listener closes.
// Shutdown of net/http comes last: it drops a request that arrives at that moment
// on an idle connection.
func (s *server) drain(publicServer *public, adminServer *http.Server) error {
	s.mu.Lock()
	delay, timeout := s.loaded.config.DrainDelay, s.loaded.config.DrainTimeout
	s.mu.Unlock()
	s.front.Drain()
	publicServer.drain()
	s.notify("STOPPING=1")
	s.log.Info("draining", "delay", delay, "timeout", timeout, "connections", publicServer.gate.connections.n.Load())
	urgent := s.process.urgent
	select {
	case <-time.After(delay):
	case <-urgent.Done():
	}
	ctx, cancel := context.WithTimeout(urgent, timeout)
	defer cancel()
	err, open := s.finish(ctx, publicServer), publicServer.gate.connections.n.Load()
	if urgent.Err() != nil {
		s.log.Error("stopped at once by a second signal", "connections", open)
		return errors.Join(errUrgent, adminServer.Close())
	}
	return errors.Join(err, s.finishAdmin(urgent, adminServer))
}

// finish closes the public listener and waits for its connections, and for what is
// kept over a restart.
func (s *server) finish(ctx context.Context, publicServer *public) error {
	if err := publicServer.gate.close(); err != nil {
		s.log.Warn("the public listener could not be closed", "error", err)
	}
	select {
	case <-publicServer.served:
	case <-ctx.Done():
	}
	kept := []<-chan struct{}{s.writeSnapshot(ctx), s.leaveAdvice(ctx)}
	err := publicServer.shutDown(ctx)
	for _, done := range kept {
		select {
		case <-done:
		case <-ctx.Done():
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("drain: drain_timeout exceeded: %d connections with requests in flight were cut off", publicServer.gate.connections.n.Load())
	}
	return errors.Join(err, publicServer.Close())
}

// finishAdmin closes the admin listener last, so that metrics can be read until
// then. A request that takes long, such as a profile, is cut off.
func (s *server) finishAdmin(ctx context.Context, adminServer *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	if err := adminServer.Shutdown(ctx); err == nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return adminServer.Close()
}

// close ends what outlives requests: fills, then writes to Redis. A fill that
// does not heed its cancellation is abandoned.
func (s *server) close() {
	ctx, cancel := context.WithTimeout(s.process.urgent, closeTime)
	defer cancel()
	done := make(chan error, 1)
	s.panics.Go(panics.Stop, func() { done <- errors.Join(s.cache.Close(), s.far.Close(ctx)) })
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = fmt.Errorf("fills were abandoned: %w", ctx.Err())
	}
	if err != nil {
		s.log.Warn("not everything was closed in order", "error", err)
	}
	s.env.CloseIdle()
	s.log.Info("stopped")
}

// exitTime is how long the process may still run after a second signal.
const exitTime = time.Second

// interrupts makes contexts of the signals to stop: the first signal ends ctx,
// which asks for an orderly stop, the second ends urgent, which asks to stop at
// once. A command that does not stop within exitTime is ended by exit.
func interrupts(exit func(status int)) (ctx, urgent context.Context, stop func()) {
	ctx, orderly := context.WithCancel(context.Background())
	urgent, now := context.WithCancel(context.Background())
	signals, done := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for _, end := range []func(){orderly, now} {
			select {
			case <-signals:
				end()
			case <-done:
				return
			}
		}
		select {
		case <-time.After(exitTime):
			exit(1)
		case <-done:
		}
	}()
	return ctx, urgent, func() {
		signal.Stop(signals)
		close(done)
		orderly()
		now()
	}
}

// gate is a listener that can be closed without resetting connections: those that
// the kernel has established by then are accepted first.
type gate struct {
	net.Listener
	own    bool // opened by this process, not inherited from systemd
	closed atomic.Bool
	// acceptFailures counts and logs connections that could not be accepted.
	acceptFailures *acceptFailures
	connections    *connections
}

// openGate listens, without Multipath TCP, which Go would use by default: its
// sockets do not support what gate needs to close without loss.
func openGate(ctx context.Context, c *net.ListenConfig, addr string) (*gate, error) {
	c.SetMultipathTCP(false)
	l, err := c.Listen(ctx, "tcp", addr)
	return &gate{Listener: l, own: true}, err
}

// handshakeTime is how long TCP handshakes under way may take to complete.
const handshakeTime = 100 * time.Millisecond

// close refuses new connections, and ends Accept with net.ErrClosed when the
// handshakes under way had time to complete. It returns before that.
func (g *gate) close() error {
	l, ok := g.Listener.(*net.TCPListener)
	if !ok {
		return g.Close()
	}
	if g.own {
		// Where this cannot be done, a connection established between the last
		// accept and the close is reset.
		_ = refuseNew(l)
	}
	g.closed.Store(true)
	return l.SetDeadline(time.Now().Add(handshakeTime))
}

// Close implements net.Listener. Closing twice is not an error: net/http and the
// drain both close it, in either order.
func (g *gate) Close() error {
	if err := g.Listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Accept implements net.Listener.
func (g *gate) Accept() (net.Conn, error) {
	conn, err := g.Listener.Accept()
	if g.closed.Load() && errors.Is(err, os.ErrDeadlineExceeded) {
		_ = g.Close() // the caller of Accept closes it again and gets the error
		return nil, net.ErrClosed
	}
	if err != nil && !errors.Is(err, net.ErrClosed) {
		g.acceptFailures.note(err, time.Now())
	}
	if err == nil {
		g.connections.awaitRoom(g.closed.Load)
	}
	return conn, err
}
