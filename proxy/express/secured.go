package express

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
)

// wire reads and writes a connection for the lane.
type wire interface {
	// serve answers requests until Read must return.
	serve()
	// watch implements the Read of one byte while a request is handled. It returns when the client has disconnected.
	watch(p []byte) (int, error)
	// send writes as much as it can without waiting for the client.
	send(head, body []byte) (int, error)
}

// ofHTTP1 returns the TLS connection if its handshake has succeeded and its requests are of HTTP/1.1; nil otherwise.
func ofHTTP1(nc net.Conn) *tls.Conn {
	c, ok := nc.(*tls.Conn)
	if !ok {
		return nil
	}
	if s := c.ConnectionState(); !s.HandshakeComplete || s.NegotiatedProtocol != "" && s.NegotiatedProtocol != "http/1.1" {
		return nil
	}
	return c
}

// over is the TLS of a connection. net/http reads its state for Request.TLS.
type over struct{ tls *tls.Conn }

// ConnectionState returns the state of TLS.
func (o over) ConnectionState() tls.ConnectionState { return o.tls.ConnectionState() }

// NetConn returns the connection below TLS.
func (o over) NetConn() net.Conn { return o.tls.NetConn() }

// securedConn is a TLS connection that the lane serves in Read.
type securedConn struct {
	*conn
	over
}

// securedFollowed is a TLS connection with followed requests.
type securedFollowed struct {
	*followed
	over
}

// secured implements wire for TLS.
type secured struct{ conn *conn }

// serve implements wire. The connection counts as busy only between two reads, because closing it ends a read.
func (s secured) serve() {
	c := s.conn
	if !c.enter() || c.filled > 0 && !c.begun && c.advance() {
		return
	}
	for c.pause() {
		n, err := c.Conn.Read(c.buf[c.filled:])
		if !c.enter() {
			return
		}
		c.filled += n
		switch {
		case n > 0:
			if c.advance() {
				return
			}
		case err != nil && !c.extended(err):
			c.giveUp(err)
			return
		}
	}
}

// maxPending limits the bytes of later requests that watch stores. net/http reads with a buffer of this size.
const maxPending = 4 << 10

// watch implements wire. It stores what the client sends meanwhile, for the next boundary between requests: a client may send its next
// request before net/http has noticed that the last one is answered. Beyond maxPending, and once the client sends no more, net/http reads by
// itself.
func (s secured) watch(p []byte) (int, error) {
	c := s.conn
	for len(c.pending) < maxPending {
		n, err := c.Conn.Read(p)
		c.pending = append(c.pending, p[:n]...)
		if err != nil && (len(c.pending) == 0 || !errors.Is(err, io.EOF)) {
			return 0, err
		}
		if err != nil {
			break
		}
	}
	return c.readThrough(p)
}

// send implements wire. It writes nothing, because TLS cannot write without waiting for the client.
func (secured) send(_, _ []byte) (int, error) { return 0, nil }
