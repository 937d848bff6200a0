package simulation

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// chunk is what one Write sent.
type chunk struct {
	data []byte
	// at is when it arrives; zero means when the link is no longer stalled.
	at time.Time
}

// flow is one direction of a connection: an unbounded queue, so that no writer ever waits.
type flow struct {
	mu       sync.Mutex
	queue    []chunk
	last     time.Time // when the newest chunk arrives
	ended    bool      // the writer has closed: what is in the queue can be read
	reset    bool      // the connection is lost, with what is in the queue
	deadline time.Time // of reads; zero means none
	changed  chan struct{}
}

func newFlow() *flow { return &flow{changed: make(chan struct{}, 1)} }

// update changes the flow, and wakes its reader.
func (f *flow) update(change func()) {
	f.mu.Lock()
	change()
	f.mu.Unlock()
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// send queues data that arrives after a delay; stalled data waits for release.
func (f *flow) send(data []byte, delay time.Duration, stalled bool) error {
	var err error
	f.update(func() {
		if f.ended || f.reset {
			err = syscall.EPIPE
			return
		}
		c := chunk{data: append([]byte(nil), data...)}
		if !stalled {
			c.at = time.Now().Add(delay)
			if c.at.Before(f.last) {
				c.at = f.last // in order
			}
			f.last = c.at
		}
		f.queue = append(f.queue, c)
	})
	return err
}

// release lets what was stalled arrive now.
func (f *flow) release() {
	f.update(func() {
		for i := range f.queue {
			if f.queue[i].at.IsZero() {
				f.queue[i].at = time.Now()
			}
		}
		f.last = time.Now()
	})
}

// read reads what has arrived, and else returns until when to wait; zero means for the next change.
func (f *flow) read(b []byte) (n int, until time.Time, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	switch {
	case f.reset:
		return 0, until, syscall.ECONNRESET
	case !f.deadline.IsZero() && !now.Before(f.deadline):
		return 0, until, os.ErrDeadlineExceeded
	case len(f.queue) == 0 && f.ended:
		return 0, until, io.EOF
	case len(f.queue) == 0 || f.queue[0].at.IsZero():
		return 0, f.deadline, nil
	case f.queue[0].at.After(now):
		until = f.queue[0].at
		if !f.deadline.IsZero() && f.deadline.Before(until) {
			until = f.deadline
		}
		return 0, until, nil
	}
	n = copy(b, f.queue[0].data)
	if f.queue[0].data = f.queue[0].data[n:]; len(f.queue[0].data) == 0 {
		f.queue = f.queue[1:]
	}
	return n, until, nil
}

// wait waits for a change of the flow, until a time; zero means without end.
func (f *flow) wait(until time.Time) {
	if until.IsZero() {
		<-f.changed
		return
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-f.changed:
	case <-timer.C:
	}
}

// conn is one end of a connection.
type conn struct {
	link          *link
	in, out       *flow
	local, remote net.Addr
	// server is true at the end that was dialed.
	server bool
	closed sync.Once
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		n, until, err := c.in.read(b)
		if n > 0 || err != nil {
			return n, c.failed("read", err)
		}
		c.in.wait(until)
	}
}

// Write implements net.Conn. It never waits.
func (c *conn) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if err := c.link.carry(c, b); err != nil {
		return 0, c.failed("write", err)
	}
	return len(b), nil
}

func (c *conn) failed(op string, err error) error {
	if err == nil || err == io.EOF { //nolint:errorlint // as read returns it
		return err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

// Close implements net.Conn. What was sent still arrives.
func (c *conn) Close() error {
	c.closed.Do(func() {
		c.out.update(func() { c.out.ended = true })
		c.in.update(func() { c.in.reset = true })
		c.link.forget(c)
	})
	return nil
}

// cut ends both directions at once, and loses what is under way.
func (c *conn) cut() {
	for _, f := range []*flow{c.in, c.out} {
		f.update(func() { f.reset = true })
	}
	c.link.forget(c)
}

// LocalAddr implements net.Conn.
func (c *conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr implements net.Conn.
func (c *conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.update(func() { c.in.deadline = t })
	return nil
}

// SetWriteDeadline implements net.Conn. No write waits.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

// redisConn is a connection to Redis. Without a socket, go-redis would not see that one in its pool was closed.
type redisConn struct{ *conn }

// SyscallConn implements syscall.Conn.
func (c redisConn) SyscallConn() (syscall.RawConn, error) {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	return socketLike(c.in.ended || c.in.reset)
}

// listener accepts the connections to an address.
type listener struct {
	addr   net.Addr
	arrive chan net.Conn
	done   chan struct{}
	close  func()
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.arrive:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *listener) Close() error { l.close(); return nil }

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return l.addr }
