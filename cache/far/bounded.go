package far

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strconv"
	"syscall"
)

// maxValue is the size in bytes of the largest text that is read from Redis. Entries that instances write have 32 MiB at most.
const maxValue = 33 << 20

// maxLine is the size in bytes of the longest line that is read. Only errors and numbers are lines.
const maxLine = 1 << 20

// errTooLarge means that a reply holds a text of more than maxValue bytes, or a list of more than maxValue elements.
var errTooLarge = errors.New("redis: a reply that is too large")

// boundedConn is a connection to Redis that fails with errTooLarge before go-redis allocates memory for a text that no instance
// has written. It follows the lines and texts of RESP in what is read.
type boundedConn struct {
	net.Conn
	text int    // bytes of a text, and of the end of its line, that are still to come
	line []byte // the beginning of a line that has not ended
	over bool   // something too large came
}

// Read implements net.Conn. It fails again after errTooLarge: go-redis does not give up a connection at each error.
func (c *boundedConn) Read(b []byte) (int, error) {
	if c.over {
		return 0, errTooLarge
	}
	n, err := c.Conn.Read(b)
	if c.over = !c.follow(b[:n]); c.over {
		return 0, errTooLarge
	}
	return n, err
}

// follow reports whether what was read announces nothing that is too large.
func (c *boundedConn) follow(b []byte) bool {
	for len(b) > 0 {
		if c.text > 0 {
			n := min(c.text, len(b))
			c.text, b = c.text-n, b[n:]
			continue
		}
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			c.line = append(c.line, b...)
			return len(c.line) <= maxLine
		}
		line := b[:end]
		if len(c.line) > 0 {
			line = append(c.line, line...)
			c.line = nil
		}
		if !c.begin(line) {
			return false
		}
		b = b[end+1:]
	}
	return true
}

// begin follows a line.
func (c *boundedConn) begin(line []byte) bool {
	const texts, lists = "$!=", "*%~>|"
	if len(line) < 2 || bytes.IndexByte([]byte(texts+lists), line[0]) < 0 {
		return true
	}
	n, err := strconv.Atoi(string(bytes.TrimSuffix(line[1:], []byte("\r"))))
	if err != nil || n > maxValue {
		return false
	}
	if n >= 0 && bytes.IndexByte([]byte(texts), line[0]) >= 0 {
		c.text = n + len("\r\n")
	}
	return true
}

// boundedSocket is a boundedConn of which go-redis can see whether it is still open.
type boundedSocket struct {
	*boundedConn
	syscall.Conn
}

// bounded returns a dialer of bounded connections.
func bounded(dial dialer) dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		b := &boundedConn{Conn: conn}
		if socket, ok := conn.(syscall.Conn); ok {
			return boundedSocket{b, socket}, nil
		}
		return b, nil
	}
}
