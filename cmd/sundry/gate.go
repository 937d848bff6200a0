package main

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

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
