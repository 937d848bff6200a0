package listener

import (
	"net"

	"golang.org/x/sys/unix"
)

// refuseNew makes the kernel drop packets that would open a new connection, as if
// they had been lost on the way: clients try again a second later, when the
// address is closed or another process listens. Closing a listener resets
// connections that are established and not yet accepted, and as long as new ones
// come there is always one of those.
func refuseNew(l *net.TCPListener) error {
	const flags, syn = 13, 0x02 // offset of the flags in a TCP header, and the flag SYN
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: flags},
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jf: 1, K: syn},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		{Code: unix.BPF_RET | unix.BPF_K, K: 1 << 18},
	}
	raw, err := l.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]})
	})
	if err != nil {
		return err
	}
	return failed
}
