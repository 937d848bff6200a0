//go:build unix

package simulation

import (
	"sync"
	"syscall"
)

// sockets are two real sockets, for programs that look whether a socket was closed: at one of them nothing ever arrives, and the
// other one was closed by its peer.
var sockets = sync.OnceValue(func() (both [2]socketRaw) {
	for i := range both {
		pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			panic(err) // no file descriptor is left
		}
		both[i] = socketRaw(pair[0])
		if i == 1 {
			_ = syscall.Close(pair[1])
		}
	}
	return both
})

// socketRaw is the descriptor of a socket.
type socketRaw int

// socketLike returns a socket that was closed by its peer, or one that was not.
func socketLike(closed bool) (syscall.RawConn, error) {
	if closed {
		return sockets()[1], nil
	}
	return sockets()[0], nil
}

// Control implements syscall.RawConn.
func (s socketRaw) Control(f func(fd uintptr)) error { f(uintptr(s)); return nil }

// Read implements syscall.RawConn.
func (s socketRaw) Read(f func(fd uintptr) bool) error { f(uintptr(s)); return nil }

// Write implements syscall.RawConn.
func (s socketRaw) Write(f func(fd uintptr) bool) error { f(uintptr(s)); return nil }
