//go:build unix

package through

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestExcessThatHasArrived before a request is not its response, even if no goroutine has read it yet. The request goes over another
// connection, whatever its method, because nothing of it was sent.
func TestExcessThatHasArrived(t *testing.T) {
	for _, scheme := range schemes {
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			t.Run(scheme+", "+method, func(t *testing.T) {
				answered := make(chan struct{})
				f := newRawFront(t, scheme, latelyExcessive(answered))
				reader := f.readLate()
				request := method + " %s HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n"
				if got := exchange(t, f.addr, fmt.Sprintf(request, "/excess")); !strings.HasSuffix(got, "\r\n\r\nok") {
					t.Errorf("the client gets %q", got)
				}
				reader.late.Store(true)
				close(answered)
				<-reader.arrived
				if got := exchange(t, f.addr, fmt.Sprintf(request, "/next")); !strings.HasSuffix(got, "\r\n\r\n/next") {
					t.Errorf("a victim gets %q", got)
				}
			})
		}
	}
}

// latelyExcessive is an origin that sends another response to a request for /excess once that has been answered.
func latelyExcessive(answered <-chan struct{}) func(c net.Conn, in *bufio.Reader) {
	const response = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: %d\r\n\r\n%s"
	return func(c net.Conn, in *bufio.Reader) {
		for {
			line, _, err := readHead(in)
			if err != nil {
				return
			}
			path := strings.Fields(line)[1]
			if path != "/excess" {
				fmt.Fprintf(c, response, len(path), path)
				continue
			}
			fmt.Fprintf(c, response, 2, "ok")
			<-answered
			fmt.Fprintf(c, response, 6, "poison")
		}
	}
}

// lateReader delays the goroutine that reads from a connection, as a scheduler may: what arrives is read once the next request was sent, or
// it was checked whether something has arrived.
type lateReader struct {
	late     atomic.Bool
	arrived  chan struct{} // closed when bytes have arrived
	acted    chan struct{} // closed when the goroutine goes on
	arriving sync.Once
	acting   sync.Once
}

// readLate delays the reading from all connections that are made from now on.
func (f *front) readLate() *lateReader {
	r := &lateReader{arrived: make(chan struct{}), acted: make(chan struct{})}
	o := f.handler.origin
	config := &tls.Config{RootCAs: o.transport.TLSClientConfig.RootCAs}
	o.transports = newTransports(&Connections{Connect: connectTime, Head: 30 * time.Second, KeepAlive: true, TLS: config},
		func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &lateConn{c.(*net.TCPConn), r}, nil
		})
	o.brief.IdleConnTimeout = time.Minute // the test may be slow
	return r
}

// note notes that bytes have arrived, and reports whether they are late.
func (r *lateReader) note() bool {
	late := r.late.Load()
	if late {
		r.arriving.Do(func() { close(r.arrived) })
	}
	return late
}

// delay waits for act if bytes have arrived late.
func (r *lateReader) delay() {
	if r.note() {
		<-r.acted
	}
}

// act ends the delay.
func (r *lateReader) act() {
	if r.late.Load() {
		r.acting.Do(func() { close(r.acted) })
	}
}

// lateConn is a connection from which is read late.
type lateConn struct {
	*net.TCPConn
	reader *lateReader
}

// Read implements net.Conn.
func (c *lateConn) Read(b []byte) (int, error) {
	n, err := c.TCPConn.Read(b)
	c.reader.delay()
	return n, err
}

// Write implements net.Conn.
func (c *lateConn) Write(b []byte) (int, error) {
	defer c.reader.act()
	return c.TCPConn.Write(b)
}

// SyscallConn implements syscall.Conn.
func (c *lateConn) SyscallConn() (syscall.RawConn, error) {
	raw, err := c.TCPConn.SyscallConn()
	return &lateRawConn{raw, c.reader}, err
}

// lateRawConn is the file descriptor of a lateConn.
type lateRawConn struct {
	syscall.RawConn
	reader *lateReader
}

// Read implements syscall.RawConn. What f finds when it is first called is not late: no request is sent before that is read.
func (c *lateRawConn) Read(f func(fd uintptr) bool) error {
	waited := false
	return c.RawConn.Read(func(fd uintptr) bool {
		if waited && hasArrived(fd) {
			c.reader.delay()
		}
		waited = true
		found := f(fd)
		if found {
			c.reader.note()
		}
		return found
	})
}

// hasArrived reports whether a connection has bytes to read.
func hasArrived(fd uintptr) bool {
	_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
	return !errors.Is(err, syscall.EAGAIN)
}

// Control implements syscall.RawConn.
func (c *lateRawConn) Control(f func(fd uintptr)) error {
	defer c.reader.act()
	return c.RawConn.Control(f)
}
