package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
)

// halfClosed sends a request, closes its side of the connection, and returns all
// that is sent back.
func (f *front) halfClosed(path, version string) string {
	f.t.Helper()
	conn := f.dial()
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET "+path+" HTTP/"+version+"\r\nHost: test\r\n\r\n"); err != nil {
		f.t.Fatal(err)
	}
	if err := conn.CloseWrite(); err != nil {
		f.t.Fatal(err)
	}
	b, _ := io.ReadAll(conn) // an aborted connection may be reset
	return string(b)
}

func (f *front) dial() *net.TCPConn {
	f.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.URL, "http://"))
	if err != nil {
		f.t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		f.t.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

// TestHalfClosedCallersAreAnswered: on a miss, on a hit, and without a cache.
func TestHalfClosedCallersAreAnswered(t *testing.T) {
	t.Parallel()
	longtest.NotShort(t, "it takes a second")
	up := newFake(t, `{"v":"worth the wait"}`)
	up.takes.Store(int64(200 * time.Millisecond))
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", up)})
	off := newFront(t, map[string]string{"simple": simple("off: true", up)})
	for _, version := range []string{"1.1", "1.0"} {
		for _, got := range []string{f.halfClosed("/api/simple?id=1"+version[2:], version), f.halfClosed("/api/simple?id=1"+version[2:], version), off.halfClosed("/api/simple", version)} {
			resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(got)), nil)
			if err != nil {
				t.Fatalf("HTTP/%s: %v: %q", version, err, got)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), "worth the wait") {
				t.Errorf("HTTP/%s: %d %q %v", version, resp.StatusCode, body, err)
			}
		}
	}
}

// TestDisconnectTimeout: a request whose client has closed its side of the
// connection ends after a timeout, and never with an empty 200.
func TestDisconnectTimeout(t *testing.T) {
	up := newFake(t, `{"v":"late"}`)
	up.takes.Store(int64(time.Minute))
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", up)})
	f.server.current.Load().routes["simple"].disconnectTimeout = 50 * time.Millisecond
	if got := f.halfClosed("/api/simple", "1.1"); got != "" {
		t.Errorf("instead of an aborted connection: %q", got)
	}
	conn := f.dial()
	if _, err := io.WriteString(conn, "GET /api/simple?id=2 HTTP/1.1\r\nHost: test\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the request is served", func() bool { n, _ := f.server.admission.count(); return n > 0 })
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the request ends", func() bool { n, _ := f.server.admission.count(); return n == 0 })
}

// hanging is an upstream that never answers, and counts its calls.
type hanging struct {
	*httptest.Server
	calls, open atomic.Int64
}

func newHanging(t *testing.T) *hanging {
	t.Helper()
	h := &hanging{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		h.calls.Add(1)
		h.open.Add(1)
		defer h.open.Add(-1)
		<-r.Context().Done()
	}))
	t.Cleanup(h.Close)
	return h
}

// TestDisconnectedCallersCancelTheirUpstreamCalls: no upstream call outlives the last
// client that waits for it by more than a second.
func TestDisconnectedCallersCancelTheirUpstreamCalls(t *testing.T) {
	t.Parallel()
	longtest.NotShort(t, "it takes a second")
	up := newHanging(t)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h, fill_timeout: 30s", &fake{Server: up.Server})})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var callers sync.WaitGroup
	for i := range 300 {
		callers.Go(func() {
			_, _ = f.try(ctx, http.MethodGet, fmt.Sprintf("/api/simple?id=%d", i%100+1)) // disconnected or refused
		})
	}
	waittest.Until(t, "calls upstream", func() bool { return up.open.Load() >= 20 })
	leave()
	callers.Wait()
	left := time.Now()
	waittest.Until(t, "the calls have ended", func() bool { return up.open.Load() == 0 })
	if took := time.Since(left); took > time.Second {
		t.Errorf("the last call outlived its callers by %v", took)
	}
	waittest.Until(t, "no request is in flight", func() bool { n, _ := f.server.admission.count(); return n == 0 })
}
