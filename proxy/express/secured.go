package express

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
)

// wire is how the lane reads and writes on a connection.
type wire interface {
	// serve answers requests until Read must return.
	serve()
	// watch implements the Read of one byte while a request is handled: it returns when the client has gone.
	watch(p []byte) (int, error)
	// send writes as much as it can without waiting for the client.
	send(head, body []byte) (int, error)
}

// ofHTTP1 returns the connection if its TLS handshake has succeeded and its requests are of HTTP/1.1; nil otherwise.
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

// over is the TLS below a connection. net/http reads its state for Request.TLS.
type over struct{ tls *tls.Conn }

// ConnectionState returns the state of TLS.
func (o over) ConnectionState() tls.ConnectionState { return o.tls.ConnectionState() }

// NetConn returns the connection below TLS.
func (o over) NetConn() net.Conn { return o.tls.NetConn() }

// securedConn is a connection with the lane in the Read above its TLS.
type securedConn struct {
	*conn
	over
}

// securedFollowed is a connection whose requests are followed above its TLS.
type securedFollowed struct {
	*followed
	over
}

// secured reads and writes through TLS.
type secured struct{ conn *conn }

// serve implements wire. The connection is busy only between two reads: closing it ends one.
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

// maxPending is how much of the requests behind that which is handled is stored. net/http reads with a buffer of this size.
const maxPending = 4 << 10

// watch implements wire. It stores what the client sends meanwhile for the next boundary: a client may send its next request before
// net/http has noticed that the last one is answered. Beyond maxPending, and at the end of a pipeline, net/http reads by itself.
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

// send implements wire: TLS writes all or nothing.
func (secured) send(_, _ []byte) (int, error) { return 0, nil }
