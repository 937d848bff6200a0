package express

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// socket reads and writes without the detours of net.Conn, which would add 15 % to a hit
// (BenchmarkAnswer, when it had both): it knows when another read would have to wait, and
// looks whether the client is there without taking anything.
type socket struct {
	conn *conn
	raw  syscall.RawConn
	// hinted is true if the kernel says with what it returns whether there is more: without
	// that, another read that finds nothing costs 5 % of a hit, its client included.
	hinted bool
	fd     int // during a call of onReadable
	gone   error
	// The functions are made once, because making one takes an allocation.
	onReadable, onWatched func(uintptr) bool
}

// openSocket returns nil for connections whose Read and Write are not the kernel's.
func openSocket(of net.Conn) *socket {
	var raw syscall.RawConn
	var err error
	switch nc := of.(type) {
	case *net.TCPConn:
		raw, err = nc.SyscallConn()
	case *net.UnixConn:
		raw, err = nc.SyscallConn()
	default:
		return nil
	}
	if err != nil {
		return nil
	}
	s := &socket{raw: raw}
	s.onReadable, s.onWatched = s.readable, s.watched
	if !hintsTellTheEnd() {
		return s
	}
	_ = raw.Control(func(fd uintptr) {
		s.hinted = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_INQ, 1) == nil
	})
	return s
}

// hintsTellTheEnd reports whether the kernel's hint says that the end is still to be
// read. Who is told that there is nothing, and waits, waits for an end that has
// come already until the deadline.
var hintsTellTheEnd = sync.OnceValue(func() bool {
	var u unix.Utsname
	return unix.Uname(&u) == nil && tellsTheEnd(unix.ByteSliceToString(u.Release[:]))
})

// tellsTheEnd: Linux does since 5.1. gVisor, which does not, calls itself 4.4.
func tellsTheEnd(release string) bool {
	var major, minor int
	if n, _ := fmt.Sscanf(release, "%d.%d", &major, &minor); n < 2 { // the rest is the distribution's
		return false
	}
	return major > 5 || major == 5 && minor >= 1
}

// serve answers requests. All of its reads are in one call of RawConn.Read, as long
// as no deadline passes: each call forgets that the socket was readable, and so has
// to try a read that may find nothing.
func (s *socket) serve() {
	for {
		err := s.raw.Read(s.onReadable)
		if err == nil {
			return
		}
		if !s.conn.extended(err) {
			s.conn.giveUp(err)
			return
		}
	}
}

// readable reads and answers until it has to wait. It reports whether Read must
// return.
func (s *socket) readable(fd uintptr) bool {
	c := s.conn
	if !c.enter() {
		return true
	}
	s.fd = int(fd)
	if c.filled > 0 && !c.begun && c.advance() {
		return true
	}
	for {
		n, more, err := s.receive(c.buf[c.filled:])
		switch {
		case errors.Is(err, unix.EAGAIN):
			return !c.pause()
		case err != nil:
			c.giveUp(os.NewSyscallError("read", err))
			return true
		case n == 0:
			c.giveUp(io.EOF)
			return true
		}
		c.filled += n
		if c.advance() {
			return true
		}
		if !more {
			return !c.pause()
		}
	}
}

// receive also reports whether another read may find something: data, or the end.
func (s *socket) receive(p []byte) (n int, more bool, err error) {
	var hint struct {
		unix.Cmsghdr
		unread int32
		_      int32
	}
	iov := unix.Iovec{Base: unsafe.SliceData(p)} //nolint:gosec // with its length below
	iov.SetLen(len(p))
	msg := unix.Msghdr{Iov: &iov, Iovlen: 1}
	if s.hinted {
		msg.Control = (*byte)(unsafe.Pointer(&hint)) //nolint:gosec // with its length below
		msg.SetControllen(int(unsafe.Sizeof(hint)))
	}
	for {
		n, _, errno := unix.Syscall(unix.SYS_RECVMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&msg)), 0) //nolint:gosec // as the kernel wants it
		switch errno {
		case 0:
			hinted := msg.Controllen > 0 && hint.Level == unix.IPPROTO_TCP && hint.Type == unix.TCP_CM_INQ
			return int(n), !hinted || hint.unread > 0, nil
		case unix.EINTR:
		default:
			return 0, false, errno
		}
	}
}

// send writes as much as the kernel takes without waiting for the client.
func (s *socket) send(head, body []byte) (int, error) {
	for {
		n, errno := s.trySend(head, body)
		switch errno {
		case 0:
			return n, nil
		case unix.EAGAIN:
			return 0, nil
		case unix.EINTR:
		default:
			return 0, os.NewSyscallError("write", errno)
		}
	}
}

// trySend uses the cheaper call where there is no body.
func (s *socket) trySend(head, body []byte) (int, syscall.Errno) {
	if len(body) == 0 {
		base := unsafe.Pointer(unsafe.SliceData(head)) //nolint:gosec // with its length below
		n, _, errno := unix.Syscall6(unix.SYS_SENDTO, uintptr(s.fd), uintptr(base), uintptr(len(head)), unix.MSG_NOSIGNAL, 0, 0)
		return int(n), errno
	}
	iov := [2]unix.Iovec{{Base: unsafe.SliceData(head)}, {Base: unsafe.SliceData(body)}} //nolint:gosec // with their lengths below
	iov[0].SetLen(len(head))
	iov[1].SetLen(len(body))
	msg := unix.Msghdr{Iov: &iov[0]}
	msg.SetIovlen(len(iov))
	n, _, errno := unix.Syscall(unix.SYS_SENDMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&msg)), unix.MSG_NOSIGNAL) //nolint:gosec // as the kernel wants it
	return int(n), errno
}

// watch waits until the client has gone, or a deadline passes. It takes nothing of
// what the client sends meanwhile.
func (s *socket) watch([]byte) (int, error) {
	s.gone = nil
	if err := s.raw.Read(s.onWatched); err != nil {
		return 0, readError(s.conn.Conn, err)
	}
	return 0, readError(s.conn.Conn, s.gone)
}

func (s *socket) watched(fd uintptr) bool {
	s.gone = s.lookAfter(int(fd))
	return s.gone != nil
}

// lookAfter returns why the client has gone, and nil if it has not. As for net/http,
// the end of what it sends means that it has gone only if no request stands before
// that: a client may end its requests with the last of a pipeline.
func (s *socket) lookAfter(fd int) error {
	if len(s.conn.pending) == 0 {
		var one [1]byte
		n, _, err := unix.Recvfrom(fd, one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		switch {
		case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR):
			return nil
		case err != nil:
			return os.NewSyscallError("read", err)
		case n == 0:
			return io.EOF
		}
	}
	state := []unix.PollFd{{Fd: int32(fd)}}
	if n, err := unix.Poll(state, 0); err == nil && n > 0 && state[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0 {
		return io.EOF
	}
	return nil
}
