// Package secure makes the public listener speak TLS. It guarantees that net/http gets only connections with a completed
// handshake, that no handshake waits for another, and that a connection counts for its client before its handshake.
package secure

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/crypto/acme"

	"sundry/metrics/panics"
)

// handshakeTime limits a handshake. net/http would apply its ReadHeaderTimeout, which is 5 s as well.
const handshakeTime = 5 * time.Second

// Config configures a Listener.
type Config struct {
	TLS *tls.Config
	// Track receives the states of connections, as http.Server.ConnState does. A connection in its handshake is StateNew.
	Track  func(net.Conn, http.ConnState)
	Panics *panics.Catcher
	Log    *slog.Logger
}

// Listener accepts TLS connections. Their handshakes run concurrently.
type Listener struct {
	net.Listener
	config   Config
	accepted chan accepted
	begin    sync.Once
	pending  sync.WaitGroup // the handshakes
	ctx      context.Context
	cancel   context.CancelFunc
}

// accepted is a result of Accept.
type accepted struct {
	conn *tls.Conn
	err  error
}

// Listen returns a listener that accepts the connections of ln once their handshake has succeeded.
func Listen(ln net.Listener, c Config) *Listener {
	l := &Listener{Listener: ln, config: c, accepted: make(chan accepted)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// Accept implements net.Listener. Once ln is closed, it still returns connections with a handshake that has begun.
func (l *Listener) Accept() (net.Conn, error) {
	l.begin.Do(func() { l.config.Panics.Go(panics.Listener, l.run) })
	a, open := <-l.accepted
	switch {
	case !open:
		return nil, net.ErrClosed
	case a.err != nil:
		return nil, a.err
	}
	return a.conn, nil
}

// Close implements net.Listener. It ends the handshakes under way.
func (l *Listener) Close() error {
	l.cancel()
	return l.Listener.Close()
}

// run accepts connections until the listener is closed, then waits for their handshakes.
func (l *Listener) run() {
	defer close(l.accepted)
	defer l.pending.Wait()
	for {
		conn, err := l.Listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			l.deliver(accepted{err: err}) // net/http waits a moment before it accepts again
		default:
			l.config.Track(conn, http.StateNew)
			l.pending.Add(1)
			l.config.Panics.Go(panics.Listener, func() {
				defer l.pending.Done()
				l.handshake(conn)
			})
		}
	}
}

// deliver passes a to Accept. It reports false if the listener is closed first.
func (l *Listener) deliver(a accepted) bool {
	select {
	case l.accepted <- a:
		return true
	case <-l.ctx.Done():
		return false
	}
}

// handshake delivers the connection if its handshake succeeds, and closes it otherwise.
func (l *Listener) handshake(conn net.Conn) {
	delivered := false
	defer func() {
		if !delivered {
			_ = conn.Close()
			l.config.Track(conn, http.StateClosed)
		}
	}()
	ctx, cancel := context.WithTimeout(l.ctx, handshakeTime)
	defer cancel()
	secured := tls.Server(conn, l.config.TLS)
	if err := secured.HandshakeContext(ctx); err != nil {
		l.refuse(err)
		return
	}
	if secured.ConnectionState().NegotiatedProtocol == acme.ALPNProto {
		return // the authority wants to see the certificate only
	}
	delivered = l.deliver(accepted{conn: secured})
}

// refuse logs the error of a handshake. A client that does not speak TLS is told what is wrong, as by net/http.
func (l *Listener) refuse(err error) {
	if plain, ok := errors.AsType[tls.RecordHeaderError](err); ok && plain.Conn != nil {
		_ = plain.Conn.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = io.WriteString(plain.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
	}
	l.config.Log.Debug("a TLS handshake failed", "error", err)
}
