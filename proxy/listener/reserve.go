package listener

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
)

// Descriptors that are held open for the admin listener.
const (
	maxReserve  = 16
	reservePart = 16 // of all that may be open, at most one of so many is held
)

// reserve is a listener that holds descriptors open. If the process has no other descriptor left, it closes one of them for each
// connection that it accepts.
type reserve struct {
	net.Listener
	size int

	mu    sync.Mutex
	spare []*os.File
}

// Reserve returns a listener that accepts a few connections even if this process may open no more files, such as those of probes.
func Reserve(l net.Listener) net.Listener {
	size := maxReserve
	if files := filesLimit(); files > 0 {
		size = int(min(files/reservePart, maxReserve))
	}
	return newReserve(l, size)
}

func newReserve(l net.Listener, size int) *reserve {
	r := &reserve{Listener: l, size: size}
	r.fill()
	return r
}

// Accept implements net.Listener.
func (r *reserve) Accept() (net.Conn, error) {
	conn, err := r.Listener.Accept()
	for (errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)) && r.release() {
		conn, err = r.Listener.Accept()
	}
	if err != nil {
		return nil, err
	}
	r.fill()
	return &reservedConn{conn, r}, nil
}

// Close implements net.Listener.
func (r *reserve) Close() error {
	r.mu.Lock()
	r.size = 0
	r.mu.Unlock()
	for r.release() {
	}
	return r.Listener.Close()
}

// release closes a descriptor. It reports whether there was one.
func (r *reserve) release() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.spare)
	if n == 0 {
		return false
	}
	_ = r.spare[n-1].Close() // nothing was written to it
	r.spare = r.spare[:n-1]
	return true
}

// fill opens as many descriptors as are missing, as far as the limit allows.
func (r *reserve) fill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.spare) < r.size {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return
		}
		r.spare = append(r.spare, f)
	}
}

// reservedConn is a connection whose descriptor is held again after its end.
type reservedConn struct {
	net.Conn
	of *reserve
}

// Close implements net.Conn.
func (c *reservedConn) Close() error {
	err := c.Conn.Close()
	c.of.fill()
	return err
}

// CloseWrite tells the client that nothing more is written, where the connection can.
func (c *reservedConn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}
