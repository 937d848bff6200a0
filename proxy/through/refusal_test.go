package through

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
)

// closing is a connection to an origin that answers and closes once it has a little of a request: what is sent then fails before the
// answer has been read.
type closing struct {
	net.Conn
	written int
	failed  chan struct{}
	once    sync.Once
	answer  io.Reader
}

// Write implements net.Conn.
func (c *closing) Write(b []byte) (int, error) {
	if c.written > 0 {
		c.once.Do(func() { close(c.failed) })
		return 0, &net.OpError{Op: "write", Err: syscall.EPIPE}
	}
	c.written += len(b)
	return len(b), nil
}

// Read implements net.Conn.
func (c *closing) Read(b []byte) (int, error) {
	<-c.failed
	n, err := c.answer.Read(b)
	if err != nil {
		return n, &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	}
	return n, nil
}

// TestARefusalIsAnswered where the origin has enough of a body and closes the connection, as gunicorn does whose application does not read it.
func TestARefusalIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveWorld(t, func(context.Context, string, string) (net.Conn, error) {
			near, distant := net.Pipe()
			t.Cleanup(func() { _ = distant.Close() })
			return &closing{Conn: near, failed: make(chan struct{}), answer: strings.NewReader("HTTP/1.1 413 Too large\r\nContent-Length: 9\r\n\r\ntoo large")}, nil
		})
		if a := s.ask(http.MethodPost, "/a", strings.Repeat("x", 1<<20)); a.status != http.StatusRequestEntityTooLarge || a.body != "too large" || a.err != nil {
			t.Errorf("%d %q, %v", a.status, a.body, a.err)
		}
	})
}
