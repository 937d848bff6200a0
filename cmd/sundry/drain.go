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
)

const (
	// lastCall is how long after the listener's end connections that rest may
	// still bring a request. One that rests longer is closed.
	lastCall = time.Second
	// closeTime bounds the end of the admin listener, and that of fills and
	// writes to Redis.
	closeTime = 2 * time.Second
)

// errUrgent is what a server comes to that was told twice to end.
var errUrgent = errors.New("ended at once by a second signal: requests under way were cut off")

// public is the public listener with its server, and the number of its open
// connections.
type public struct {
	*http.Server
	gate   *gate
	conns  atomic.Int64
	served chan struct{} // closed when no connection is accepted any more
}

func newPublic(srv *http.Server, g *gate) *public {
	p := &public{Server: srv, gate: g, served: make(chan struct{})}
	srv.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			p.conns.Add(1)
		case http.StateClosed, http.StateHijacked:
			p.conns.Add(-1)
		case http.StateActive, http.StateIdle:
		}
	}
	return p
}

// run serves until the gate is closed.
func (p *public) run() error {
	defer close(p.served)
	if err := p.Serve(p.gate); !p.gate.closed.Load() {
		return ignoreClosed(err)
	}
	return nil
}

// empty waits until no connection is open, for as long as the last call takes.
func (p *public) empty(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastCall)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for p.conns.Load() > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// drain ends the service without failing anybody. First this instance says that
// it is not ready, while it answers as ever, each answer as the last of its
// connection: who asks /readyz sends others elsewhere, and who keeps a connection
// leaves it. Then the listener closes. What net/http calls a shutdown comes
// last: it throws away what arrives in that moment on a connection that rested.
func (s *server) drain(front *public, back *http.Server) error {
	s.mu.Lock()
	delay, timeout := s.loaded.config.DrainDelay, s.loaded.config.DrainTimeout
	s.mu.Unlock()
	s.front.Drain()
	s.notify("STOPPING=1")
	s.log.Info("draining", "delay", delay, "timeout", timeout, "connections", front.conns.Load())
	urgent := s.world.urgent
	select {
	case <-time.After(delay):
	case <-urgent.Done():
	}
	ctx, cancel := context.WithTimeout(urgent, timeout)
	defer cancel()
	err, open := s.finish(ctx, front), front.conns.Load()
	if urgent.Err() != nil {
		s.log.Error("a second signal: ended at once", "connections", open)
		return errors.Join(errUrgent, back.Close())
	}
	return errors.Join(err, s.finishAdmin(urgent, back))
}

// finish closes the public listener and waits for its connections.
func (s *server) finish(ctx context.Context, front *public) error {
	if err := front.gate.close(); err != nil {
		s.log.Warn("public listener", "error", err)
	}
	select {
	case <-front.served:
	case <-ctx.Done():
	}
	front.empty(ctx)
	err := front.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("drain: %d connections were cut off with requests under way: drain_timeout is over", front.conns.Load())
	}
	return errors.Join(err, front.Close())
}

// finishAdmin ends the private listener last, so that it tells until then. What
// takes its time there, a profile, is cut off.
func (s *server) finishAdmin(ctx context.Context, back *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	if err := back.Shutdown(ctx); err == nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return back.Close()
}

// close ends what outlives requests: fills, then writes to Redis. A fill that
// heeds nobody is left behind.
func (s *server) close() {
	ctx, cancel := context.WithTimeout(s.world.urgent, closeTime)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- errors.Join(s.cache.Close(), s.far.Close(ctx)) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = fmt.Errorf("fills were left behind: %w", ctx.Err())
	}
	if err != nil {
		s.log.Warn("close", "error", err)
	}
	s.env.CloseIdle()
	s.log.Info("stopped")
}

// haste is how long after a second signal the process may still run.
const haste = time.Second

// interrupts makes contexts of signals to end: the first one ends ctx, which
// asks for an orderly end, the second urgent, which asks for one at once. A
// command that does not heed that in time is ended by exit.
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
		case <-time.After(haste):
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

// gate is a listener that can be closed without losing anybody: whom the system
// has let in by then is accepted first.
type gate struct {
	net.Listener
	own    bool // opened by this process, and not kept open by another
	closed atomic.Bool
	// unaccepted hears of those whom the system would not hand over.
	unaccepted *unaccepted
}

// openGate listens. On a socket of Multipath TCP, which Go would open, what gate
// needs to close without loss is not supported.
func openGate(ctx context.Context, addr string) (*gate, error) {
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	l, err := c.Listen(ctx, "tcp", addr)
	return &gate{Listener: l, own: true}, err
}

// lastEntry is how long connections that were begun may take to be there.
const lastEntry = 100 * time.Millisecond

// close lets nobody new in, and ends Accept with net.ErrClosed when those who
// are on their way have come. It returns before.
func (g *gate) close() error {
	l, ok := g.Listener.(*net.TCPListener)
	if !ok {
		return g.Close()
	}
	if g.own {
		// Where this cannot be done, who comes in the instant between the last
		// accept and the close is cut off.
		_ = refuseNew(l)
	}
	g.closed.Store(true)
	return l.SetDeadline(time.Now().Add(lastEntry))
}

// Close implements net.Listener. One that is closed already is as good: net/http
// and the drain both close it, in either order.
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
		_ = g.Close() // whoever calls Accept closes it again, and hears of it
		return nil, net.ErrClosed
	}
	if err != nil && !errors.Is(err, net.ErrClosed) {
		g.unaccepted.note(err, time.Now())
	}
	return conn, err
}
