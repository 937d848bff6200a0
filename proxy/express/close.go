package express

import (
	"net"
	"time"
)

// Phases of a connection.
const (
	phaseOpen    = iota
	phaseBusy    // the lane reads and answers
	phaseEnding  // busy, and Read is to return when the lane has answered
	phaseClosing // ending, and net/http has closed the connection
	phaseClosed
)

// enter makes the connection busy. It fails on a closed one, and Read returns then.
func (c *conn) enter() bool {
	if c.phase.CompareAndSwap(phaseOpen, phaseBusy) || c.phase.Load() == phaseBusy {
		return true
	}
	c.err = readError(c.Conn, net.ErrClosed)
	return false
}

// pause ends being busy, before waiting for the client. It fails if the connection
// has been closed meanwhile, and Read returns then.
func (c *conn) pause() bool {
	if c.phase.CompareAndSwap(phaseBusy, phaseOpen) || c.phase.Load() == phaseOpen {
		return true
	}
	c.err = readError(c.Conn, net.ErrClosed)
	return false
}

// leave ends being busy, because Read returns.
func (c *conn) leave() {
	if !c.phase.CompareAndSwap(phaseBusy, phaseOpen) {
		c.phase.CompareAndSwap(phaseEnding, phaseOpen)
	}
}

// end closes the connection when the lane has answered what it has read: at once, if
// that is nothing.
func (c *conn) end() {
	if !c.phase.CompareAndSwap(phaseBusy, phaseEnding) && c.phase.CompareAndSwap(phaseOpen, phaseClosed) {
		c.lane.remove(c)
		_ = c.Conn.Close() // the client will notice nothing but the end
	}
}

// Waiting returns since when no request has been read on the connection, in part aside; ok
// is false while one is answered.
func (c *conn) Waiting() (since time.Time, ok bool) {
	return c.lane.time(instant(c.idle.Load())), c.phase.Load() == phaseOpen && !c.handled.Load()
}

// Close implements net.Conn. Shutdown of net/http closes connections on which it
// knows of no request. If the lane is answering one, Read returns an error behind the
// answer, and net/http, whose goroutine it is, closes the connection for the second
// time. That closes it in any case.
func (c *conn) Close() error {
	for {
		switch phase := c.phase.Load(); {
		case phase == phaseBusy || phase == phaseEnding:
			if c.phase.CompareAndSwap(phase, phaseClosing) {
				return nil
			}
		case c.phase.CompareAndSwap(phase, phaseClosed):
			c.lane.remove(c)
			return c.Conn.Close()
		}
	}
}

// CloseWrite tells the client that nothing more is written. net/http does that before
// it closes a connection whose client may still be sending.
func (c *conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}
