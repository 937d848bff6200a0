package simulation

import (
	"bytes"
	"context"
	"maps"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"
)

// link is the way between an instance and a server, with all connections that take it. The zero faults carry everything at once.
type link struct {
	mu     sync.Mutex
	conns  map[*conn]struct{} // the ends that dialed
	faults faults
	loses  int // the next replies, each with its connection
	drops  int // the next notifications are lost
	twice  int // the next notifications are delivered twice
	// lost is called for what is lost: a reply (false) or a notification (true).
	lost func(notification bool)
}

// faults are those of a link that last.
type faults struct {
	// refused: nothing is connected.
	refused bool
	// stalled: nothing arrives, and nothing is lost.
	stalled bool
	// there and back are the delays of what the instance sends, and of what it gets.
	there, back time.Duration
}

func newLink() *link { return &link{conns: map[*conn]struct{}{}, lost: func(bool) {}} }

// addr is that of one end of a connection.
func addr(address string) net.Addr {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		panic(err) // a mistake in this package
	}
	return a
}

// dial connects to a listener over the link; nil means that nothing listens there.
func (l *link) dial(ctx context.Context, from string, to *listener) (*conn, error) {
	f, err := l.reach(ctx)
	if err != nil {
		return nil, err
	}
	if wait := f.there + f.back; wait > 0 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if f.refused || to == nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	there, back := newFlow(), newFlow()
	client := &conn{link: l, in: back, out: there, local: addr(from), remote: to.addr}
	server := &conn{link: l, in: there, out: back, local: to.addr, remote: addr(from), server: true}
	l.mu.Lock()
	l.conns[client] = struct{}{}
	l.mu.Unlock()
	select {
	case to.arrive <- server:
		return client, nil
	case <-to.done:
		client.cut()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
}

// handshake is how often a connection is tried that nobody answers, handshakes how many times.
const (
	handshake  = 500 * time.Millisecond
	handshakes = 20
)

// reach returns the faults of the link once it is not stalled.
func (l *link) reach(ctx context.Context) (faults, error) {
	for range handshakes {
		l.mu.Lock()
		f := l.faults
		l.mu.Unlock()
		if !f.stalled {
			return f, nil
		}
		select {
		case <-time.After(handshake):
		case <-ctx.Done():
			return f, ctx.Err()
		}
	}
	return faults{}, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ETIMEDOUT}
}

// carry sends data by the end of a connection, as the faults have it.
func (l *link) carry(c *conn, data []byte) error {
	l.mu.Lock()
	f, times := l.faults, 1
	if c.server {
		switch {
		case isNotification(data):
			times = l.deliveries()
		case l.loses > 0:
			l.loses--
			l.lost(false)
			l.mu.Unlock()
			c.cut()
			return nil
		}
	}
	l.mu.Unlock()
	delay := f.there
	if c.server {
		delay = f.back
	}
	for range times {
		if err := c.out.send(data, delay, f.stalled); err != nil {
			return err
		}
	}
	return nil
}

// deliveries returns how many times the next notification arrives. The caller holds mu.
func (l *link) deliveries() int {
	switch {
	case l.drops > 0:
		l.drops--
		l.lost(true)
		return 0
	case l.twice > 0:
		l.twice--
		return 2
	}
	return 1
}

// isNotification reports whether Redis sends a message to a subscriber, in RESP 2 or 3.
func isNotification(data []byte) bool {
	return bytes.HasPrefix(data, []byte("*3\r\n$7\r\nmessage\r\n")) || bytes.HasPrefix(data, []byte(">3\r\n$7\r\nmessage\r\n"))
}

// set replaces the faults that last. Connections remain, unless they are refused.
func (l *link) set(f faults) {
	l.mu.Lock()
	was := l.faults
	l.faults = f
	l.mu.Unlock()
	if f.refused {
		l.cut()
	}
	if was.stalled && !f.stalled {
		for _, c := range l.all() {
			c.in.release()
			c.out.release()
		}
	}
}

// change sets what happens to the next replies and notifications.
func (l *link) change(do func(*link)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do(l)
}

func (l *link) all() []*conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.conns))
}

// cut loses all connections.
func (l *link) cut() {
	for _, c := range l.all() {
		c.cut()
	}
}

// forget removes a connection that is closed.
func (l *link) forget(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}
