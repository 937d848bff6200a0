package main

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// starved is a listener of a process without a descriptor left, for some tries.
type starved struct {
	net.Listener
	left atomic.Int64
}

func (s *starved) Accept() (net.Conn, error) {
	if s.left.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: s.Addr(), Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return s.Listener.Accept()
}

// TestDescriptorsRunOut: who runs the service is told, once and not for every
// try, and callers are served as soon as they can be.
func TestDescriptorsRunOut(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	lines := &output{}
	told, err := newAcceptFailures(prometheus.NewRegistry(), slog.New(slog.NewTextHandler(lines, nil)))
	if err != nil {
		t.Fatal(err)
	}
	open, err := newConnections(prometheus.NewRegistry(), 0)
	if err != nil {
		t.Fatal(err)
	}
	few := &starved{Listener: l}
	few.left.Store(4)
	g := &gate{Listener: few, acceptFailures: told, connections: open}
	p := newPublic(newHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }), slog.New(slog.DiscardHandler)), g, nil)
	done := make(chan error, 1)
	go func() { done <- p.run() }()
	if _, body := mustGet(t, "http://"+l.Addr().String()); body != "ok" {
		t.Errorf("served %q", body)
	}
	if n := testutil.ToFloat64(told.total); n != 4 {
		t.Errorf("%v failures counted", n)
	}
	if text := lines.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "level=ERROR") || !strings.Contains(text, "too many open files") {
		t.Errorf("logged:\n%s", text)
	}
	if told.note(syscall.EMFILE, time.Now().Add(time.Minute)); strings.Count(lines.String(), "\n") != 2 {
		t.Errorf("a minute later, logged:\n%s", lines)
	}
	http.DefaultClient.CloseIdleConnections()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Errorf("served until %v", err)
	}
	if n := testutil.ToFloat64(told.total); n != 5 {
		t.Errorf("the end counts: %v", n)
	}
}

// TestListenersWaitForNoHeader: who sends a request slowly, or one whose header has
// no end, is cut off, on both listeners.
func TestListenersWaitForNoHeader(t *testing.T) {
	p := serve(t, "--replay")
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

// TestAnAddressThatIsTaken is told with the setting and another address, for both
// listeners.
func TestAnAddressThatIsTaken(t *testing.T) {
	taken := serve(t, "--replay")
	for flag, url := range map[string]string{"--listen": taken.public, "--admin": taken.admin} {
		address := strings.TrimPrefix(url, "http://")
		args := []string{"serve", "--replay", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", flag, address}
		_, _, err := call(t, nil, args...)
		if err == nil || !strings.Contains(err.Error(), "another process listens there; choose another address, for example "+flag+" 127.0.0.1:") || strings.HasSuffix(err.Error(), address) {
			t.Errorf("%s: %v", flag, err)
		}
	}
	for given, want := range map[string]string{":8080": ":8081", "[::1]:9090": "[::1]:9091", "localhost:65535": "localhost:65534"} {
		if got := nextTo(given); got != want {
			t.Errorf("next to %s: %s, want %s", given, got, want)
		}
	}
}
