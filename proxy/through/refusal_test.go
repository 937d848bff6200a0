package through

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// closing is a connection to an origin that answers and closes once it has a little of a request: what is sent then fails before the
// answer has been read.
type closing struct {
	net.Conn
	mu      sync.Mutex
	written int
	failed  chan struct{}
	fail    func()
}

func newClosing(c net.Conn) *closing {
	failed := make(chan struct{})
	return &closing{Conn: c, failed: failed, fail: sync.OnceFunc(func() { close(failed) })}
}

// Write implements net.Conn.
func (c *closing) Write(b []byte) (int, error) {
	c.mu.Lock()
	c.written += len(b)
	full := c.written > 64<<10
	c.mu.Unlock()
	if full {
		c.fail()
		return 0, &net.OpError{Op: "write", Err: syscall.EPIPE}
	}
	return c.Conn.Write(b)
}

// Read implements net.Conn. What is before the answer is the handshake.
func (c *closing) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	begun := c.written > 16<<10
	c.mu.Unlock()
	if begun && err == nil {
		<-c.failed
		time.Sleep(time.Millisecond)
	}
	return n, err
}

// refuse answers a request of which it has read no more than the beginning.
func refuse(c net.Conn) {
	in := bufio.NewReader(c)
	if _, err := http.ReadRequest(in); err != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, in, 32<<10)
	go func() { _, _ = io.Copy(io.Discard, in) }()
	_, _ = io.WriteString(c, "HTTP/1.1 413 Too large\r\nContent-Length: 9\r\n\r\ntoo large")
}

// TestARefusalIsAnswered where the origin has enough of a body and closes the connection, as gunicorn does whose application does not read it.
func TestARefusalIsAnswered(t *testing.T) {
	certificates, believed := certificate(t)
	for _, scheme := range []string{"http", "https"} {
		synctest.Test(t, func(t *testing.T) {
			s := serveWorld(t, func(context.Context, string, string) (net.Conn, error) {
				near, distant := net.Pipe()
				if scheme == "https" {
					distant = tls.Server(distant, &tls.Config{Certificates: certificates})
				}
				go refuse(distant)
				return newClosing(near), nil
			})
			trust(s.h.origin, believed)
			s.h.origin.targets[0].URL = &url.URL{Scheme: scheme, Host: "example.com"}
			if a := s.ask(http.MethodPost, "/a", strings.Repeat("x", 1<<20)); a.status != http.StatusRequestEntityTooLarge || a.body != "too large" || a.err != nil {
				t.Errorf("%s: %d %q, %v", scheme, a.status, a.body, a.err)
			}
			time.Sleep(time.Second) // so long net/http waits at most for the rest of a body that it closes a connection for
		})
	}
}
