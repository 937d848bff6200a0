package through

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// schemes are the ways in which an origin speaks HTTP/1.1.
var schemes = []string{"http", "https"}

// newRawFront serves an origin that serve plays on each connection, which is closed when serve returns.
func newRawFront(t *testing.T, scheme string, serve func(c net.Conn, in *bufio.Reader)) *front {
	t.Helper()
	if scheme == "https" {
		return newTLSFront(t, "http/1.1", serve)
	}
	return newFront(t, playOrigin(t, nil, serve), true, false, false)
}

// newTLSFront is newRawFront for an origin that speaks a protocol by TLS.
func newTLSFront(t *testing.T, protocol string, serve func(c net.Conn, in *bufio.Reader)) *front {
	t.Helper()
	certificates, believed := certificate(t)
	f := newFront(t, playOrigin(t, &tls.Config{Certificates: certificates, NextProtos: []string{protocol}}, serve), true, false, false)
	f.handler.origin.targets[0].URL.Scheme = "https"
	trust(f.handler.origin, believed)
	return f
}

// playOrigin has serve play an origin on each connection; by TLS, unless config is nil. The connections end with the test: one of HTTP/2 whose
// stream has not quite ended when the handler is closed would stay until its idle timeout.
func playOrigin(t *testing.T, config *tls.Config, serve func(c net.Conn, in *bufio.Reader)) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if config != nil {
		l = tls.NewListener(l, config)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				defer context.AfterFunc(t.Context(), func() { _ = c.Close() })()
				serve(c, bufio.NewReader(c))
			}()
		}
	}()
	return l
}

// readHead reads the head of a request, and no body. It returns the request line.
func readHead(in *bufio.Reader) (line string, h http.Header, err error) {
	text := textproto.NewReader(in)
	if line, err = text.ReadLine(); err != nil {
		return "", nil, err
	}
	fields, err := text.ReadMIMEHeader()
	return line, http.Header(fields), err
}

// bodyless is an origin that reads no bodies and keeps its connections, as the http.server of Python does. It answers with what it has got.
type bodyless struct {
	obeys bool // closes the connection if it is asked to
	mu    sync.Mutex
	lines map[string]bool
}

func (o *bodyless) serve(c net.Conn, in *bufio.Reader) {
	for {
		line, h, err := readHead(in)
		if err != nil {
			return
		}
		o.mu.Lock()
		o.lines[line] = true
		o.mu.Unlock()
		body := fmt.Sprintf("%s%s%s", line, h["Authorization"], h["X-Stolen"])
		if strings.HasPrefix(line, "HEAD ") {
			body = ""
		}
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nX-Got: %s%s\r\n\r\n%s", len(body), h["Authorization"], h["X-Stolen"], body)
		if o.obeys && h.Get("Connection") == "close" {
			return
		}
	}
}

// bodies are bodies of requests, with their framing, that are the beginning of another request.
func bodies() map[string]string {
	const smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\nX-Stolen: "
	return map[string]string{
		"a length": fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(smuggled), smuggled),
		"chunks":   fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(smuggled), smuggled),
	}
}

// TestABodyThatTheOriginDoesNotRead is not taken for the request of another client, whatever its method.
func TestABodyThatTheOriginDoesNotRead(t *testing.T) {
	t.Parallel()
	for _, scheme := range schemes {
		methods := []string{"GET", "HEAD", "OPTIONS", "DELETE", "POST", "PUT", "PATCH", "PROPFIND"}
		if scheme == "https" {
			methods = []string{"GET", "POST"}
		}
		for _, method := range methods {
			for kind, body := range bodies() {
				t.Run(scheme+" "+method+" with "+kind, func(t *testing.T) {
					t.Parallel()
					o := &bodyless{lines: map[string]bool{}}
					f := newRawFront(t, scheme, o.serve)
					f.smuggle(t, method+" /attack HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n"+body)
				})
			}
		}
	}
}

// exchange sends bytes on a connection of their own, and returns what comes back until it ends.
func exchange(t *testing.T, addr, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = io.WriteString(c, text) // or it is refused
	b, _ := io.ReadAll(c)
	return string(b)
}

// smuggle sends a request again and again while others ask for what is theirs.
func (f *front) smuggle(t *testing.T, attack string) {
	var clients sync.WaitGroup
	for i := range 4 {
		clients.Go(func() {
			for range 4 {
				if got := exchange(t, f.addr, attack); strings.Contains(got, "secret") {
					t.Errorf("an attacker gets %q", got)
				}
			}
		})
		clients.Go(func() {
			for n := range 4 {
				method := []string{"GET", "POST", "DELETE", "OPTIONS"}[n%4]
				path := fmt.Sprintf("/victim/%d/%d", i, n)
				got := exchange(t, f.addr, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\nAuthorization: secret%d\r\nContent-Length: 0\r\n\r\n", method, path, i))
				if want := fmt.Sprintf("\r\n\r\n%s %s HTTP/1.1[secret%d][]", method, path, i); !strings.HasSuffix(got, want) {
					t.Errorf("a victim gets %q instead of %q", got, want)
				}
			}
		})
	}
	clients.Wait()
}

// TestABodyIsNoRequest of an origin that does not read it, if that closes the connection when it is asked to.
func TestABodyIsNoRequest(t *testing.T) {
	t.Parallel()
	for _, scheme := range schemes {
		o := &bodyless{obeys: true, lines: map[string]bool{}}
		f := newRawFront(t, scheme, o.serve)
		for _, method := range []string{"GET", "HEAD", "POST"} {
			const hidden = "DELETE /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
			exchange(t, f.addr, fmt.Sprintf("%s /attack HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", method, len(hidden), hidden))
			o.mu.Lock()
			if !o.lines[method+" /attack HTTP/1.1"] || len(o.lines) > 1 {
				t.Errorf("%s: the origin got %v", scheme, o.lines)
			}
			clear(o.lines)
			o.mu.Unlock()
		}
	}
}

// TestBodiesOverHTTP2 leave the connection as it is: there, a body has an end of its own.
func TestBodiesOverHTTP2(t *testing.T) {
	var opened atomic.Int64
	certificates, believed := certificate(t)
	s := newSecureWorld(t, certificates, believed, func(c net.Conn) net.Conn {
		opened.Add(1)
		return c
	}, "example.com")
	for range 3 {
		for _, method := range []string{"GET", "DELETE", "POST"} {
			if a := s.ask(method, "/a", "body"); a.body != "example.com HTTP/2.0" {
				t.Errorf("%s: %d %s %v", method, a.status, a.body, a.err)
			}
		}
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("%d connections were made", n)
	}
}

// TestConnectionsAreUsedAgain where nothing speaks against it.
func TestConnectionsAreUsedAgain(t *testing.T) {
	for _, scheme := range schemes {
		var opened atomic.Int64
		f := newRawFront(t, scheme, func(c net.Conn, in *bufio.Reader) {
			opened.Add(1)
			for {
				if _, _, err := readHead(in); err != nil {
					return
				}
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nok")
			}
		})
		for i := range 20 {
			if got, want := victim(t, f.addr, "api.test", fmt.Sprint("/", i)), fmt.Sprintln(200, "ok", nil); got != want {
				t.Errorf("%s: %s", scheme, got)
			}
		}
		if n := opened.Load(); n != 1 {
			t.Errorf("%s: %d connections were made", scheme, n)
		}
	}
}

// TestTheConnectionOfAClient goes on behind a body that the origin has not read.
func TestTheConnectionOfAClient(t *testing.T) {
	o := &bodyless{obeys: true, lines: map[string]bool{}}
	f := newRawFront(t, "http", o.serve)
	c, err := net.Dial("tcp", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in := bufio.NewReader(c)
	for i := range 50 {
		for kind, length := range map[string]int{"a short body": 10, "a long body": 100_000, "one of two windows": 2 * bodyWindow} {
			fmt.Fprintf(c, "PUT /%d HTTP/1.1\r\nHost: api.test\r\nContent-Length: %d\r\n\r\n%s", i, length, strings.Repeat("x", length))
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatalf("request %d with %s: %v", i, kind, err)
			}
			if b, err := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK || err != nil {
				t.Fatalf("request %d with %s: %d %s %v", i, kind, resp.StatusCode, b, err)
			}
		}
	}
}

// TestABodyThatBreaksOff does not become a request, nor a part of one, of another client.
func TestABodyThatBreaksOff(t *testing.T) {
	t.Parallel()
	const head = " /attack HTTP/1.1\r\nHost: api.test\r\n"
	long := strings.Repeat("x", 2*bodyWindow)
	for _, scheme := range schemes {
		for name, text := range map[string]string{
			"of a length":      "Content-Length: 10\r\n\r\n12345",
			"long":             "Content-Length: 200000\r\n\r\n" + long,
			"in chunks":        "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n",
			"in a chunk":       "Transfer-Encoding: chunked\r\n\r\n5\r\n123",
			"long chunks":      "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n", len(long), long),
			"a malformed one":  "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\nx\r\n\r\n",
			"malformed at end": "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n", len(long), long) + "x\r\n\r\n",
		} {
			t.Run(scheme+" "+name, func(t *testing.T) {
				t.Parallel()
				var complete atomic.Int64
				f := newRawFront(t, scheme, func(c net.Conn, in *bufio.Reader) {
					for {
						r, err := http.ReadRequest(in)
						if err != nil {
							return
						}
						body, err := io.ReadAll(r.Body)
						if err != nil {
							return
						}
						if r.URL.Path == "/attack" {
							complete.Add(1)
						}
						fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s%s", len(r.URL.Path)+len(body), r.URL.Path, body)
					}
				})
				for i, method := range []string{"GET", "POST", "DELETE"} {
					c, err := net.Dial("tcp", f.addr)
					if err != nil {
						t.Fatal(err)
					}
					_, _ = io.WriteString(c, method+head+text) // or it is refused before its end
					_ = c.(*net.TCPConn).CloseWrite()
					_, _ = io.Copy(io.Discard, c)
					c.Close()
					path := fmt.Sprint("/victim/", i)
					if got, want := victim(t, f.addr, "api.test", path), fmt.Sprintln(200, path, nil); got != want {
						t.Errorf("%s: a victim gets %s instead of %s", method, got, want)
					}
				}
				if n := complete.Load(); n > 0 {
					t.Errorf("the origin got %d complete bodies", n)
				}
			})
		}
	}
}
