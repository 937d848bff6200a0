package listener

import (
	"container/list"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"sundry/cache/clients"
	"sundry/metrics"
)

// Parts of the descriptors: public connections get one, connections to the origins of APIs as many, and the rest is for
// everything else: the admin listener, calls of sources, Redis, files, and idle connections to all of them.
const (
	parts   = 3
	maxRest = 8 << 10 // more than all that is bounded elsewhere takes
)

// part returns how many connections may be open to clients, and how many to origins, if so many files may; 0 means any number.
func part(files uint64) int {
	return int((files - min(files/parts, maxRest)) / 2)
}

// connections are those of public clients. They are limited in number, in total and for each client. A connection that a
// handler has taken over from net/http counts until ended is called.
type connections struct {
	max     int            // 0 means any number
	share   *clients.Limit // of each client; nil means no limit
	client  func(peer netip.Addr) clients.ID
	evicted prometheus.Counter
	refused prometheus.Counter
	changed chan struct{} // one is closed, or has become idle

	served atomic.Int64 // those of net/http
	mu     sync.Mutex
	open   map[net.Conn]*connection
	idle   idleConnections
	idleOf map[clients.ID]*list.List // of *connection; each client's, about in the order in which they became idle
}

// connection is what is known of one.
type connection struct {
	net.Conn
	client clients.ID
	counts bool // in its client's share; false if one was accepted beyond max, while the listener closes
	// since is when it became idle, as far as is known: no later than it did. Where the express
	// lane was answering on it, it is when to look again.
	since   time.Time
	answers bool // the lane was answering
	place   int  // in idleConnections; -1: net/http handles a request, or a handler has taken it over
	own     *list.Element
}

// waiting is a connection that knows better than net/http whether it is idle: the express
// lane answers on it.
type waiting interface {
	// Waiting returns since when it has been idle; ok is false where it is not.
	Waiting() (since time.Time, ok bool)
}

func newConnections(reg prometheus.Registerer, most int, client func(peer netip.Addr) clients.ID) *connections {
	register := promauto.With(reg)
	counter := func(name, help string) prometheus.Counter {
		return register.NewCounter(prometheus.CounterOpts{Namespace: metrics.Namespace, Name: name, Help: help})
	}
	c := &connections{
		max: most, client: client, changed: make(chan struct{}, 1), open: map[net.Conn]*connection{}, idleOf: map[clients.ID]*list.List{},
		evicted: counter("connection_evictions_total", "Idle public connections that were closed to make room for others, because as many were open as may be."),
		refused: counter("connections_refused_total", "Public connections that were closed at once, because their client had as many open as one may."),
	}
	if most > 0 {
		c.share = clients.NewLimit(int64(most))
	}
	gauge := func(name, help string, value func() float64) {
		register.NewGaugeFunc(prometheus.GaugeOpts{Namespace: metrics.Namespace, Name: name, Help: help}, value)
	}
	gauge("connections", "Open public connections, WebSockets among them.", func() float64 { return float64(c.count()) })
	gauge("connections_limit", "How many public connections may be open, by the limit of open files; 0: any number.", func() float64 { return float64(most) })
	return c
}

func (c *connections) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// clientOf returns the client of a connection.
func (c *connections) clientOf(nc net.Conn) clients.ID {
	peer, _ := netip.ParseAddrPort(nc.RemoteAddr().String()) // invalid in a test
	return c.client(peer.Addr().Unmap())
}

// note follows the state that net/http has for a connection.
func (c *connections) note(nc net.Conn, state http.ConnState, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		if below := belowTLS(nc); below != nil { // it was StateNew when its handshake began
			c.served.Add(-1)
			c.remove(c.open[below])
		}
		c.served.Add(1)
		c.add(nc, now)
	case http.StateIdle:
		c.rest(c.open[nc], now)
	case http.StateActive:
		c.wake(c.open[nc])
	case http.StateHijacked:
		c.served.Add(-1)
		c.wake(c.open[nc])
	case http.StateClosed:
		c.served.Add(-1)
		c.remove(c.open[nc])
	}
	if state != http.StateNew && state != http.StateActive {
		c.signal()
	}
}

// ended notes that a connection is closed that a handler has taken over.
func (c *connections) ended(nc net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(c.open[nc])
	c.signal()
}

func (c *connections) signal() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// add adds a new connection, which is idle until its first request.
func (c *connections) add(nc net.Conn, now time.Time) {
	conn := &connection{Conn: nc, client: c.clientOf(nc), place: -1}
	conn.counts = c.share.Take(conn.client, 1)
	c.open[nc] = conn
	c.rest(conn, now)
}

// rest notes that a connection has become idle; nil is none.
func (c *connections) rest(conn *connection, now time.Time) {
	if conn == nil {
		return
	}
	c.wake(conn)
	c.idle.add(conn, now)
	own := c.idleOf[conn.client]
	if own == nil {
		own = list.New()
		c.idleOf[conn.client] = own
	}
	conn.own = own.PushBack(conn)
}

// wake notes that a connection is no longer idle; nil is none.
func (c *connections) wake(conn *connection) {
	if conn == nil || conn.own == nil {
		return
	}
	c.idle.remove(conn)
	own := c.idleOf[conn.client]
	own.Remove(conn.own)
	if conn.own = nil; own.Len() == 0 {
		delete(c.idleOf, conn.client)
	}
}

// remove forgets a connection; nil is none.
func (c *connections) remove(conn *connection) {
	if conn == nil {
		return
	}
	c.wake(conn)
	delete(c.open, conn.Conn)
	if conn.counts {
		c.share.Give(conn.client, 1)
	}
}

// evict closes an idle connection.
func (c *connections) evict(conn *connection) {
	c.remove(conn) // net/http takes note of it in a moment
	cut(conn.Conn)
	c.evicted.Inc()
}

// cutAll closes all connections.
func (c *connections) cutAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for nc := range c.open {
		cut(nc)
	}
}

// cut closes a connection at once. It sends no TLS alert, which may wait for the client for seconds.
func cut(nc net.Conn) {
	if below := belowTLS(nc); below != nil {
		nc = below
	}
	_ = nc.Close() // the client notices the end of the connection
}

// belowTLS returns the connection below a TLS connection; nil for any other connection.
func belowTLS(nc net.Conn) net.Conn {
	if secure, ok := nc.(interface{ NetConn() net.Conn }); ok {
		return secure.NetConn()
	}
	return nil
}

// lookAgain is how often who waits for room looks whether it is wanted still.
const lookAgain = 50 * time.Millisecond

// admit waits until another connection may be open, or enough returns true, and closes the one that has been idle for longest.
// It reports whether the client of the new connection may have it.
func (c *connections) admit(nc net.Conn, enough func() bool) bool {
	if c.max == 0 {
		return true
	}
	if client := c.clientOf(nc); !c.makeRoomOf(client) {
		c.refused.Inc()
		return false
	}
	for !c.makeRoom() && !enough() {
		select {
		case <-c.changed:
		case <-time.After(lookAgain):
		}
	}
	return true
}

// maxLooks is how many of a client's idle connections are tried: the lane may be answering on one.
const maxLooks = 8

// makeRoomOf reports whether a client may open another connection. If it has its share open, an idle one of its own is closed.
func (c *connections) makeRoomOf(client clients.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.share.Allows(client, 1) {
		return true
	}
	own := c.idleOf[client]
	if own == nil {
		return false
	}
	for range min(own.Len(), maxLooks) {
		first := own.Front()
		conn := first.Value.(*connection)
		if lane, ok := conn.Conn.(waiting); ok {
			if _, idle := lane.Waiting(); !idle {
				own.MoveToBack(first)
				continue
			}
		}
		c.evict(conn)
		return true
	}
	return false
}

// makeRoom reports whether there is room for another connection, and makes it where an idle
// one can be closed.
func (c *connections) makeRoom() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) < c.max {
		return true
	}
	longest := c.idle.longest(time.Now())
	if longest == nil {
		return false
	}
	c.evict(longest)
	return true
}
