//go:build unix

package through

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// socket is a connection in the kernel. It reads with its inbound locked, so that all that has arrived is either in the kernel or
// known there.
type socket struct {
	net.Conn
	in *inbound
	// The following are of the read in progress.
	into     []byte
	n        int
	err      error
	readable func(fd uintptr) bool // read, made once because it takes an allocation
}

// openSocket returns a connection with its inbound. The connection is a socket if its Read is that of the kernel.
func openSocket(conn net.Conn) (net.Conn, *inbound) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return conn, newInbound(nil)
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return conn, newInbound(nil)
	}
	s := &socket{Conn: conn, in: newInbound(raw)}
	s.readable = s.read
	return s, s.in
}

// Read implements net.Conn.
func (s *socket) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	s.into = b
	err := s.in.raw.Read(s.readable)
	s.into = nil
	switch {
	case err != nil: // a deadline, or the connection is closed
		return 0, err
	case s.err != nil:
		return 0, &net.OpError{Op: "read", Net: s.LocalAddr().Network(), Source: s.LocalAddr(), Addr: s.RemoteAddr(), Err: os.NewSyscallError("read", s.err)}
	case s.n == 0:
		return 0, io.EOF
	}
	return s.n, nil
}

// read reads what is there, and reports whether there was something: bytes, the end, or an error.
func (s *socket) read(fd uintptr) bool {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	s.n, s.err = unix.Read(int(fd), s.into)
	for errors.Is(s.err, unix.EINTR) {
		s.n, s.err = unix.Read(int(fd), s.into)
	}
	s.in.waits = errors.Is(s.err, unix.EAGAIN)
	s.in.changed.Broadcast()
	return !s.in.waits
}

// arrived reports whether the kernel has bytes, the end or an error that nothing has read.
func (in *inbound) arrived() (some bool) {
	if in.raw == nil {
		return false
	}
	err := in.raw.Control(func(fd uintptr) {
		var one [1]byte
		_, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		for errors.Is(err, unix.EINTR) {
			_, _, err = unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		}
		some = !errors.Is(err, unix.EAGAIN)
	})
	return some && err == nil
}
