package express

import (
	"net"
	"runtime"

	"golang.org/x/sys/unix"
)

// awaitRead waits until the server has read everything that arrived, or closed the
// connection.
func awaitRead(c net.Conn) {
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return
	}
	for unread := 1; unread > 0; runtime.Gosched() {
		if raw.Control(func(fd uintptr) { unread, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }) != nil || err != nil {
			return
		}
	}
}
