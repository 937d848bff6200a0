package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// halfClosed sends a request, says that nothing more comes, and gives all that
// is sent back.
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

// TestHalfClosedCallersAreAnswered: on a miss, on a hit, and where nothing is
// kept.
func TestHalfClosedCallersAreAnswered(t *testing.T) {
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

// TestPatienceEnds: whose side of the connection is closed is not waited for
// without end, and never told an empty 200.
func TestPatienceEnds(t *testing.T) {
	up := newFake(t, `{"v":"late"}`)
	up.takes.Store(int64(time.Minute))
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", up)})
	f.server.set.Load().routes["simple"].patience = 50 * time.Millisecond
	if got := f.halfClosed("/api/simple", "1.1"); got != "" {
		t.Errorf("instead of an aborted connection: %q", got)
	}
	conn := f.dial()
	if _, err := io.WriteString(conn, "GET /api/simple?id=2 HTTP/1.1\r\nHost: test\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the request is served", func() bool { n, _ := f.server.load.count(); return n > 0 })
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the caller who left is given up", func() bool { n, _ := f.server.load.count(); return n == 0 })
}

// torn writes half of what it is given, and panics.
type torn struct{ http.ResponseWriter }

func (t torn) Write(b []byte) (int, error) {
	_, _ = t.ResponseWriter.Write(b[:len(b)/2])
	panic("in the middle")
}

func TestPanics(t *testing.T) {
	up := newFake(t, `{"v":"`+strings.Repeat("long text ", 500)+`"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", up)})
	f.get("/api/simple").want(t, http.StatusOK)

	middle := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.server.ServeHTTP(torn{w}, r) }))
	defer middle.Close()
	for _, path := range []string{"/api/simple", "/api/simple?type=text", "/api/simple?id=0", "/api/nope"} {
		resp, err := middle.Client().Get(middle.URL + path)
		if err != nil {
			continue // nothing of it was sent yet
		}
		b, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err == nil || strings.Contains(string(b), "internal") {
			t.Errorf("%s: a torn answer looks whole: %d %q", path, resp.StatusCode, b)
		}
	}

	f.server.set.Store(&set{routes: map[string]*route{"simple": {endpoint: f.server.set.Load().routes["simple"].endpoint, metrics: f.server.none}}})
	a := f.get("/api/simple", "Accept-Encoding", "gzip")
	a.want(t, http.StatusInternalServerError, `"type":"internal"`)
	a.header(t, "Cache-Control", "no-store")
	if n, _ := f.server.load.count(); n != 0 {
		t.Errorf("%d requests are still counted", n)
	}
}
