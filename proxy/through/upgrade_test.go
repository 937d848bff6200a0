package through

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// TestUpgradesOfAnyMethod pass without a body, and the fields of WebSockets are spelled as RFC 6455 spells them, both ways.
func TestUpgradesOfAnyMethod(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"GET", "POST", "OPTIONS", "REPORT", "x-own"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			heads := make(chan string, 1)
			f := newRawFront(t, "http", func(c net.Conn, in *bufio.Reader) {
				var head strings.Builder // as it was sent
				for !strings.HasSuffix(head.String(), "\r\n\r\n") {
					line, err := in.ReadString('\n')
					if err != nil {
						return
					}
					head.WriteString(line)
				}
				heads <- head.String()
				_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: yes\r\nSec-WebSocket-Protocol: chat\r\n\r\nlater")
			})
			got := send(t, f.addr, method+" /a HTTP/1.1\r\nHost: api.test\r\nConnection: upgrade\r\nUpgrade: websocket\r\nsec-websocket-key: k\r\nSEC-WEBSOCKET-VERSION: 13\r\n\r\n", time.Minute)
			for _, part := range []string{" 101 ", "\r\nSec-WebSocket-Accept: yes\r\n", "\r\nSec-WebSocket-Protocol: chat\r\n", "\r\n\r\nlater"} {
				if !strings.Contains(got, part) {
					t.Errorf("no %q in %q", part, got)
				}
			}
			head := <-heads
			for _, part := range []string{method + " /a", "\nSec-WebSocket-Key: k", "\nSec-WebSocket-Version: 13", "\nUpgrade: websocket"} {
				if !strings.Contains(head, part) {
					t.Errorf("no %q in %q", part, head)
				}
			}
		})
	}
}
