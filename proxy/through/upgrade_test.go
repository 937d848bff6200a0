package through

import (
	"bufio"
	"io"
	"net"
	"net/url"
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

// TestTheNextAddressOfAClosedConnection: a request that may be repeated goes to the next address where the first closes its connection
// without a response; also one to change the protocol.
func TestTheNextAddressOfAClosedConnection(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n":                        " 200 ",
		"HEAD /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n":                       " 200 ",
		"GET /a HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n":        " 101 ",
		"POST /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx": " 502 ",
		"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx":  " 502 ",
		"DELETE /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n":                     " 502 ",
		"PROPFIND /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n":                   " 502 ",
		"OPTIONS /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n":                    " 200 ",
	} {
		f := newRawFront(t, "http", func(_ net.Conn, in *bufio.Reader) { _, _, _ = readHead(in) })
		second := playOrigin(t, nil, func(c net.Conn, in *bufio.Reader) {
			_, h, err := readHead(in)
			switch {
			case err != nil:
			case h.Get("Upgrade") != "":
				_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
			default:
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		})
		address := second.Addr().String()
		f.handler.origin.targets = append(f.handler.origin.targets, Target{URL: &url.URL{Scheme: "http", Host: address}, Sent: address})
		if got := send(t, f.addr, request, time.Minute); !strings.Contains(got, want) {
			t.Errorf("%q: %q, want%s", request, got, want)
		}
	}
}
