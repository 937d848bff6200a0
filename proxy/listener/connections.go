package listener

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"sundry/metrics"
)

// Descriptors that public connections leave to everything else: the admin listener, calls
// of upstreams, Redis, files. Each public one may wait for an upstream, and leave a connection
// behind that is kept, or be answered by a second one that was asked beside it.
const (
	publicShare = 3       // a third of all
	restMost    = 8 << 10 // more than all that is bounded elsewhere takes
)

// publicPart is how many connections may be open where so many files may; 0: any number.
func publicPart(files uint64) int {
	return int(files - min(files-files/publicShare, restMost))
}

// connections are those of public clients, of which a number may be open.
type connections struct {
	most    int // 0: any number
	evicted prometheus.Counter
	changed chan struct{} // one is closed, or has become idle

	n    atomic.Int64
	mu   sync.Mutex
	open map[net.Conn]*connection
	idle idleConnections
}

// connection is what is known of one.
type connection struct {
	net.Conn
	// since is when it became idle, as far as is known: no later than it did. Where the express
	// lane was answering on it, it is when to look again.
	since   time.Time
	answers bool // the lane was answering
	place   int  // in idleConnections; -1: net/http handles a request
}

// waiting is a connection that knows better than net/http whether it is idle: the express
// lane answers on it.
type waiting interface {
	// Waiting returns since when it has been idle; ok is false where it is not.
	Waiting() (since time.Time, ok bool)
}

func newConnections(reg prometheus.Registerer, most int) *connections {
	register := promauto.With(reg)
	c := &connections{most: most, changed: make(chan struct{}, 1), open: map[net.Conn]*connection{},
		evicted: register.NewCounter(prometheus.CounterOpts{Namespace: metrics.Namespace, Name: "connection_evictions_total",
			Help: "Idle public connections that were closed to make room for others, because as many were open as may be."})}
	gauge := func(name, help string, value func() float64) {
		register.NewGaugeFunc(prometheus.GaugeOpts{Namespace: metrics.Namespace, Name: name, Help: help}, value)
	}
	gauge("connections", "Open public connections.", func() float64 { return float64(c.n.Load()) })
	gauge("connections_limit", "How many public connections may be open, by the limit of open files; 0: any number.", func() float64 { return float64(most) })
	return c
}

// note follows the state that net/http has for a connection.
func (c *connections) note(nc net.Conn, state http.ConnState, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		c.n.Add(1)
		c.open[nc] = &connection{Conn: nc, place: -1}
		c.idle.add(c.open[nc], now)
	case http.StateIdle:
		c.idle.add(c.open[nc], now)
	case http.StateActive:
		c.idle.remove(c.open[nc])
	case http.StateClosed, http.StateHijacked:
		c.n.Add(-1)
		c.idle.remove(c.open[nc])
		delete(c.open, nc)
	}
	if state != http.StateNew && state != http.StateActive {
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
}

// lookAgain is how often who waits for room looks whether it is wanted still.
const lookAgain = 50 * time.Millisecond

// awaitRoom waits until another connection may be open, or enough returns true. It closes
// the one that has been idle for longest.
func (c *connections) awaitRoom(enough func() bool) {
	for c.most > 0 && !c.makeRoom() && !enough() {
		select {
		case <-c.changed:
		case <-time.After(lookAgain):
		}
	}
}

// makeRoom reports whether there is room for another connection, and makes it where an idle
// one can be closed.
func (c *connections) makeRoom() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) < c.most {
		return true
	}
	longest := c.idle.longest(time.Now())
	if longest == nil {
		return false
	}
	c.idle.remove(longest)
	delete(c.open, longest.Conn) // net/http takes note of it in a moment
	_ = longest.Close()
	c.evicted.Inc()
	return true
}
