// Package listener is the public listener. It promises that no connection which the kernel has
// established is reset when it closes, that clients which keep connections leave file descriptors
// for everything else, and that whoever runs the service learns of connections that could not be
// accepted.
package listener

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"sundry/cache/clients"
	"sundry/metrics"
)

// Listener accepts connections, once it was opened.
type Listener struct {
	net.Listener
	own         bool // opened by this process, not inherited from systemd
	closing     atomic.Bool
	connections *connections
	failures    prometheus.Counter
	log         *slog.Logger
	quiet       atomic.Int64 // unix nanoseconds: until then failures are counted, not logged
}

// New returns a listener that is not open yet. client returns the client of a peer, clients.Nobody if it is a trusted proxy. reg
// takes the metrics.
func New(client func(peer netip.Addr) clients.ID, reg prometheus.Registerer, log *slog.Logger) *Listener {
	return newListener(client, reg, log, part(filesLimit()))
}

// Origins returns the limit of the connections to the origins of APIs, by the limit of open files; nil means no limit.
func Origins() *clients.Limit {
	if n := part(filesLimit()); n > 0 {
		return clients.NewLimit(int64(n))
	}
	return nil
}

func newListener(client func(peer netip.Addr) clients.ID, reg prometheus.Registerer, log *slog.Logger, most int) *Listener {
	return &Listener{connections: newConnections(reg, most, client), log: log, failures: promauto.With(reg).NewCounter(prometheus.CounterOpts{
		Namespace: metrics.Namespace, Name: "accept_failures_total",
		Help: "Failed attempts to accept a public connection, for example for lack of file descriptors.",
	})}
}

// Another returns a listener that is not open. Its connections count together with the connections of l.
func (l *Listener) Another() *Listener {
	return &Listener{connections: l.connections, failures: l.failures, log: l.log}
}

// Open listens at an address.
func (l *Listener) Open(ctx context.Context, address string) (err error) {
	c := &net.ListenConfig{}
	// Not Multipath TCP, which Go would use by default: its sockets do not support what
	// Refuse needs to close without loss.
	c.SetMultipathTCP(false)
	l.own = true
	l.Listener, err = c.Listen(ctx, "tcp", address)
	return err
}

// Use takes over a listener that another process has opened, and keeps open.
func (l *Listener) Use(inherited net.Listener) { l.Listener = inherited }

// handshakeTime is how long TCP handshakes under way may take to complete.
const handshakeTime = 100 * time.Millisecond

// Refuse refuses new connections, and ends Accept with net.ErrClosed when the
// handshakes under way had time to complete. It returns before that.
func (l *Listener) Refuse() error {
	l.closing.Store(true) // before Accept ends
	socket, ok := l.Listener.(*net.TCPListener)
	if !ok {
		return l.Close()
	}
	if l.own {
		// Where this cannot be done, a connection established between the last
		// accept and the close is reset.
		_ = refuseNew(socket)
	}
	return socket.SetDeadline(time.Now().Add(handshakeTime))
}

// Closing reports whether Refuse was called.
func (l *Listener) Closing() bool { return l.closing.Load() }

// Close implements net.Listener. Closing twice is not an error: net/http and the
// drain both close it, in either order.
func (l *Listener) Close() error {
	if err := l.Listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	for err == nil && !l.connections.admit(conn, l.Closing) {
		_ = conn.Close() // its client may have no more
		conn, err = l.Listener.Accept()
	}
	switch {
	case err == nil:
	case l.Closing() && errors.Is(err, os.ErrDeadlineExceeded):
		_ = l.Close() // the caller of Accept closes it again and gets the error
		return nil, net.ErrClosed
	case !errors.Is(err, net.ErrClosed):
		l.failed(err, time.Now())
	}
	return conn, err
}

// logInterval is the least time between two lines in the log.
const logInterval = 10 * time.Second

// failed counts a connection that could not be accepted, for example because this process has
// no file descriptor left, and logs it unless one was logged a moment ago. The server tries
// again by itself.
func (l *Listener) failed(err error, now time.Time) {
	l.failures.Inc()
	until := l.quiet.Load()
	if now.UnixNano() < until || !l.quiet.CompareAndSwap(until, now.Add(logInterval).UnixNano()) {
		return
	}
	l.log.Error("connections cannot be accepted", "error", err, "advice", "raise the limit of open files (ulimit -n, LimitNOFILE) or lower limits.in_flight")
}

// ConnState is for http.Server.ConnState, without which no connection counts.
func (l *Listener) ConnState(conn net.Conn, state http.ConnState) {
	l.connections.note(conn, state, time.Now())
}

// Ended is to be called when a connection is closed that a handler has taken over from net/http.
func (l *Listener) Ended(conn net.Conn) { l.connections.ended(conn) }

// Cut closes all connections at once, including the connections of Another.
func (l *Listener) Cut() { l.connections.cutAll() }

// Connections returns how many connections are open that net/http serves.
func (l *Listener) Connections() int64 { return l.connections.served.Load() }
