package express

import (
	"bytes"
	"net"
)

// maxEmptyLines limits the empty lines that are ignored. net/http refuses what follows.
const maxEmptyLines = 8

// emptyLines ignores empty lines before the first request of a connection (RFC 9112, section 2.2), which net/http refuses.
type emptyLines struct{ ignored int }

// skip returns what follows the empty lines at the beginning of b.
func (e *emptyLines) skip(b []byte) []byte {
	for e.ignored < maxEmptyLines {
		rest, ok := bytes.CutPrefix(bytes.TrimPrefix(b, []byte("\r")), []byte("\n"))
		if !ok {
			break
		}
		b = rest
		e.ignored++
	}
	return b
}

// expects reports whether b, which skip has returned, may be the beginning of another empty line.
func (e *emptyLines) expects(b []byte) bool {
	return len(b) == 0 || string(b) == "\r" && e.ignored < maxEmptyLines
}

// skipEmptyLines returns a connection that ignores empty lines before the first request. TLS is left alone.
func skipEmptyLines(nc net.Conn) net.Conn {
	switch nc := nc.(type) {
	case *net.TCPConn:
		return &tolerantConn{stream: nc}
	case *net.UnixConn:
		return &tolerantConn{stream: nc}
	}
	return nc
}

// stream is a connection that net/http closes in two steps, so that the client gets all of an answer.
type stream interface {
	net.Conn
	CloseWrite() error
}

// tolerantConn is a connection without the empty lines before its first request.
type tolerantConn struct {
	stream
	empty emptyLines
	begun bool // the first request has begun
}

// Read implements net.Conn.
func (c *tolerantConn) Read(p []byte) (n int, err error) {
	for !c.begun && err == nil && n < len(p) {
		var more int
		more, err = c.stream.Read(p[n:])
		n = copy(p, c.empty.skip(p[:n+more]))
		c.begun = !c.empty.expects(p[:n])
	}
	if n > 0 || err != nil || len(p) == 0 {
		c.begun = true
		return n, err
	}
	return c.stream.Read(p)
}
