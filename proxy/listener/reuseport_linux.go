package listener

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// setReusePort implements net.ListenConfig.Control: processes of the same user may listen
// on the address as well, and the kernel divides new connections among them.
func setReusePort(_, _ string, raw syscall.RawConn) error {
	var failed error
	err := raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	})
	return errors.Join(err, failed)
}
