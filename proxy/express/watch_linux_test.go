package express

import (
	"errors"
	"net"
	"testing"

	"golang.org/x/sys/unix"

	"sundry/upstreams/lib/waittest"
)

// TestEndBehindARequestIsNoDisconnect: who ends a pipeline waits for its answers.
func TestEndBehindARequestIsNoDisconnect(t *testing.T) {
	for name, sent := range map[string][2]string{"kept by the lane": {get("/wait") + hit, ""}, "not read yet": {get("/wait"), hit}} {
		t.Run(name, func(t *testing.T) {
			s := openSite(t)
			c := s.dial(t)
			send(t, c, sent[0])
			<-s.enter
			send(t, c, sent[1])
			if err := c.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			there := s.only(t)
			look := func(f func(fd int)) {
				if err := there.wire.(*socket).raw.Control(func(fd uintptr) { f(int(fd)) }); err != nil {
					t.Fatal(err)
				}
			}
			waittest.Until(t, "the end of what the client sends", func() (ended bool) {
				look(func(fd int) {
					info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
					ended = err == nil && info.State == unix.BPF_TCP_CLOSE_WAIT
				})
				return ended
			})
			look(func(fd int) {
				if err := there.wire.(*socket).lookAfter(fd); err != nil {
					t.Errorf("the client is taken for gone: %v", err)
				}
			})
			if err := errors.Join(c.(*net.TCPConn).SetLinger(0), c.Close()); err != nil {
				t.Fatal(err)
			}
			<-s.leave
		})
	}
}
