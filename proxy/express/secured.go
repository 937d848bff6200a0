package express

import (
	"crypto/tls"
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

// watch implements wire. A byte that arrives meanwhile is of another request, which net/http then reads by itself.
func (s secured) watch(p []byte) (int, error) { return s.conn.readThrough(p) }

// send implements wire: TLS writes all or nothing.
func (secured) send(_, _ []byte) (int, error) { return 0, nil }
