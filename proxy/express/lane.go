package express

import (
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/metrics/panics"
)

// Config is what a lane is made of.
type Config struct {
	Answerer Answerer
	// Fields names the header fields that the Answerer reads. It reads no other, so
	// that an answer may depend on these alone.
	Fields []string
	// Unsent limits the memory of answers that clients let wait; nil means no limit.
	Unsent     *Unsent
	Registerer prometheus.Registerer // nil: the metrics are registered nowhere
	// Panics catches those of answering, and of the reads that net/http makes beside a
	// request.
	Panics *panics.Catcher
}

// Lane answers plain requests in front of an http.Server.
type Lane struct {
	answerer  Answerer
	fields    *fieldTable
	metrics   *laneMetrics
	panics    *panics.Catcher
	unsent    *Unsent
	exchanges sync.Pool // of *exchange
	epoch     time.Time // instants count from here
	draining  atomic.Bool

	mu    sync.Mutex
	conns map[*conn]struct{} // the open ones
}

// New makes a lane.
func New(c Config) (*Lane, error) {
	fields, err := newFieldTable(c.Fields)
	if err != nil {
		return nil, err
	}
	l := &Lane{answerer: c.Answerer, panics: c.Panics, unsent: c.Unsent, fields: fields, epoch: time.Now(), conns: map[*conn]struct{}{}, metrics: newMetrics(c.Registerer)}
	l.exchanges.New = func() any { return newExchange(fields) }
	return l, nil
}

// Attach puts the lane in front of srv, which must not serve yet, and returns the
// listener to serve. The lane keeps the time-outs that srv has. It follows srv's
// connections by srv.ConnState, which calls what was set before, and drains when srv
// shuts down.
func (l *Lane) Attach(srv *http.Server, ln net.Listener) net.Listener {
	followStates(srv)
	srv.RegisterOnShutdown(l.panics.Func(panics.Stop, l.shutDown))
	return &listener{Listener: ln, lane: l, timeouts: timeoutsOf(srv)}
}

// Drain makes all requests go to net/http from now on.
func (l *Lane) Drain() { l.draining.Store(true) }

// shutDown closes connections that net/http takes for new ones, because the lane
// answered every request on them so far. It would wait for their first request for
// some seconds.
func (l *Lane) shutDown() {
	l.Drain()
	for _, c := range l.open() {
		if c.unseen.Load() {
			c.end()
		}
	}
}

func (l *Lane) open() []*conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.conns))
}

func (l *Lane) add(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[c] = struct{}{}
}

func (l *Lane) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

// timeouts are those of an http.Server; 0 is none.
type timeouts struct{ header, read, write, idle time.Duration }

func timeoutsOf(srv *http.Server) *timeouts {
	t := &timeouts{header: srv.ReadHeaderTimeout, read: max(srv.ReadTimeout, 0), write: max(srv.WriteTimeout, 0), idle: srv.IdleTimeout}
	if t.header == 0 {
		t.header = srv.ReadTimeout
	}
	if t.idle == 0 {
		t.idle = srv.ReadTimeout
	}
	t.header, t.idle = max(t.header, 0), max(t.idle, 0)
	return t
}

type listener struct {
	net.Listener
	lane     *Lane
	timeouts *timeouts
}

// Accept implements net.Listener. The lane answers on plain sockets, and over TLS if the handshake has succeeded and did not choose
// HTTP/2.
func (l *listener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := newConn(nc, l.lane, l.timeouts)
	if secure := ofHTTP1(nc); secure != nil {
		c.wire = secured{c}
		l.lane.add(c)
		return &securedConn{c, over{secure}}, nil
	}
	s := openSocket(nc)
	if s == nil {
		return follow(nc), nil
	}
	s.conn, c.wire = c, s
	l.lane.add(c)
	return c, nil
}
