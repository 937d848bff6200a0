package express

import (
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"sundry/metrics/panics"
)

// conn is a connection that net/http serves, with the lane in its Read.
type conn struct {
	net.Conn
	lane     *Lane
	timeouts *timeouts
	peer     netip.Addr
	wire     wire

	place   place
	framing framing // of what net/http reads once the lane has left
	phase   atomic.Int32
	pending []byte // what follows a head that net/http has: the next boundary begins with it
	first   bool   // net/http waits for the first request of the connection
	empty   emptyLines
	// unseen is true while the lane has answered all requests of the connection, so that
	// net/http takes it for a new one.
	unseen atomic.Bool

	// handled is true while net/http has a request; idle is the instant since when the
	// connection waits for one, if it does.
	handled atomic.Bool
	idle    atomic.Int64

	armed atomic.Int64 // the read deadline, an instant; 0: none
	least instant      // the next read deadline is moved on to this; 0: it is taken as it is

	// The Read at a boundary.
	buf     []byte  // lent by net/http
	filled  int     // how much of it has been read
	begun   bool    // a head has begun, and its time runs
	expires instant // when waiting ends; 0: never
	n       int     // what Read returns
	err     error
}

// place is where in the life of a connection net/http is, as far as Read can know.
type place int

const (
	boundary    place = iota // it waits for a request
	handling                 // it has one without a body
	surrendered              // anywhere: the lane has left the connection for good
)

func newConn(nc net.Conn, l *Lane, t *timeouts) *conn {
	c := &conn{Conn: nc, lane: l, timeouts: t, peer: addrOf(nc.RemoteAddr()), first: true}
	c.idle.Store(int64(l.instant(time.Now())))
	return c
}

// addrOf returns an address as it is compared and logged: unmapped and without a
// zone.
func addrOf(a net.Addr) netip.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

// changeState follows the state that net/http has for the connection.
func (c *conn) changeState(s http.ConnState) {
	switch s {
	case http.StateActive:
		c.handled.Store(true)
	case http.StateIdle:
		c.idle.Store(int64(c.lane.instant(time.Now())))
		c.handled.Store(false)
	case http.StateNew, http.StateHijacked, http.StateClosed:
	}
	switch {
	case s == http.StateIdle && c.place == handling:
		c.place, c.least = boundary, 0
	case s == http.StateHijacked:
		c.surrender()
		c.framing.part = unfollowed
	}
}

func (c *conn) surrender() {
	if c.place != surrendered {
		c.place = surrendered
		c.lane.metrics.surrendered.Inc()
	}
}

// leastBuffer is the smallest buffer that net/http is expected to wait for a request
// with. At the boundary it has never been smaller than 4096 bytes.
const leastBuffer = 512

// Read implements net.Conn. While a request is handled, net/http reads one byte in
// the background, to learn that the client has gone; nothing recovers from a panic
// there. After one the connection is closed: at io.EOF net/http answers nothing.
func (c *conn) Read(p []byte) (n int, err error) {
	defer func() {
		if value := recover(); value != nil {
			_ = c.lane.panics.Caught(panics.Request, value)
			n, err = 0, io.EOF
		}
	}()
	switch {
	case len(p) == 0:
		return 0, nil
	case c.place == boundary && len(p) >= max(leastBuffer, len(c.pending)):
		return c.serve(p)
	case c.place == handling && len(p) == 1:
		return c.wire.watch(p)
	}
	return c.readThrough(p)
}

// readThrough reads for net/http, which knows best what it is about.
func (c *conn) readThrough(p []byte) (n int, err error) {
	if len(c.pending) > 0 {
		n = copy(p, c.pending)
		c.pending = c.pending[n:]
	} else {
		n, err = c.Conn.Read(p)
	}
	if n > 0 {
		c.surrender()
		c.framing.follow(p[:n])
	}
	return n, err
}

// serve answers requests until one has to be passed. It reads into p.
func (c *conn) serve(p []byte) (int, error) {
	defer c.leave() // also when the Answerer panics
	c.buf, c.filled, c.begun, c.n, c.err = p, copy(p, c.pending), false, 0, nil
	c.pending = nil
	c.expires = instant(c.armed.Load())
	c.wire.serve()
	c.buf = nil
	return c.n, c.err
}
