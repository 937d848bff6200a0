package main

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/lib/longtest"
)

// TestListenersWaitForNoHeader: who sends a request slowly, or one whose header has
// no end, is cut off, on both listeners.
func TestListenersWaitForNoHeader(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	p := serveWith(t, onlyIn(t, "ip"), "--replay")
	var conns []net.Conn
	for _, base := range []string{p.public, p.admin} {
		for _, sent := range []string{"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: " + strings.Repeat("x", 80<<10) + "\r\n\r\n"} {
			c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := io.WriteString(c, sent); err != nil {
				t.Fatal(err)
			}
			conns = append(conns, c)
		}
	}
	for i, c := range conns {
		_ = c.SetReadDeadline(time.Now().Add(15 * time.Second))
		if answer, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) || strings.Contains(string(answer), " 200 ") {
			t.Errorf("connection %d: %v %s", i, err, answer)
		}
	}
}

// TestAnAddressThatIsTaken is told with the setting and another address that is free, for both
// listeners.
func TestAnAddressThatIsTaken(t *testing.T) {
	t.Parallel()
	few := onlyIn(t, "ip")
	taken := serveWith(t, few, "--replay")
	for flag, url := range map[string]string{"--listen": taken.public, "--admin": taken.admin} {
		address := strings.TrimPrefix(url, "http://")
		beside := nextTo(func(string) bool { return true }, address)
		if l, err := net.Listen("tcp", beside); err == nil { // else it is taken already
			defer func() { _ = l.Close() }()
		}
		args := []string{"serve", "--replay", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", flag, address}
		_, log, err := call(t, few, args...)
		if err == nil || !strings.Contains(err.Error(), "another process listens there; choose another address, for example "+flag+" 127.0.0.1:") || strings.HasSuffix(err.Error(), address) {
			t.Fatalf("%s: %v", flag, err)
		}
		_, advised, _ := strings.Cut(err.Error(), "for example "+flag+" ")
		if l, err := net.Listen("tcp", advised); err != nil {
			t.Errorf("%s: the advice is taken: %v", flag, err)
		} else {
			_ = l.Close()
		}
		if strings.Contains(log, "stopped") {
			t.Errorf("%s: nothing had started, yet something stopped: %s", flag, log)
		}
	}
	for given, want := range map[string]string{
		":8080": ":8081", "[::1]:9090": "[::1]:9091", "localhost:65535": "localhost:65534", ":http": ":8081",
		":8080 127.0.0.1:8081": ":8082", ":9089 127.0.0.1:9090": ":9091", "127.0.0.1:8081 :8082 :8083": "127.0.0.1:8084", ":65534 :65535": ":65533", ":79 :http": ":81",
	} {
		all := strings.Fields(given)
		if got := nextTo(func(string) bool { return true }, all[0], all[1:]...); got != want {
			t.Errorf("next to %s: %s, want %s", given, got, want)
		}
	}
	if got := nextTo(func(string) bool { return false }, ":8080"); got != "" {
		t.Errorf("where none is free: %s", got)
	}
}
