package kinds

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"sundry/upstreams"
)

// impatient is a server that answers the first request of a connection, and closes it as
// the second arrives, however long that is.
type impatient struct {
	net.Listener
	first, second string // what it answers; "": nothing
	asked, cut    atomic.Int64
}

const wellAnswered = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"good\":1}\n"

func newImpatient(t *testing.T, first, second string) *impatient {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &impatient{Listener: l, first: first, second: second}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(c)
		}
	}()
	return s
}

func (s *impatient) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	r := bufio.NewReaderSize(c, 16)
	req, err := http.ReadRequest(r)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, req.Body)
	s.asked.Add(1)
	_, _ = io.WriteString(c, s.first)
	if s.first == "" {
		return
	}
	if _, err := r.ReadByte(); err == nil {
		s.cut.Add(1)
		_, _ = io.WriteString(c, s.second)
	}
}

// source asks the server.
func (s *impatient) source(t *testing.T, env *upstreams.Environment, rest string) *upstreams.Source {
	t.Helper()
	return compile(t, env, "name: one\n"+strings.ReplaceAll(rest, "UP", "url: 'http://"+s.Addr().String()+"/'")+"\n", "q")
}

// TestRequestsOfConnectionsThatEndAreSentAgain: a service may close a kept connection at
// the moment that a request is sent on it. Whatever the method and the size, that is no
// failure.
func TestRequestsOfConnectionsThatEndAreSentAgain(t *testing.T) {
	for name, request := range map[string]string{
		"GET": `http: {UP}`, "form": `http: {UP, form: {q: "{q}"}}`, "json": `http: {UP, json: '{q: $params.q}'}`,
		"parts": `http: {UP, parts: [1, 2], form: {q: "{q}{part}"}}`,
		"steps": "before: [{name: a, http: {UP, form: {q: \"{q}\"}}}]\nhttp: {UP, json: $params.q}",
	} {
		for _, size := range []int{1, 4 << 10, 1 << 20} {
			t.Run(fmt.Sprintf("%s of %d bytes", name, size), func(t *testing.T) {
				server, env := newImpatient(t, wellAnswered, ""), environment(t)
				s := server.source(t, env, request)
				for range 10 {
					a, err := ask(t, env, s, map[string]any{"q": strings.Repeat("x", size)})
					if err != nil || strings.Contains(fmt.Sprint(a.Data), "nil") {
						t.Fatalf("%v, %v", a.Data, err)
					}
				}
				if n := server.cut.Load(); n < 9 {
					t.Errorf("%d connections ended as a request came, want 9 or more", n)
				}
			})
		}
	}
}

// TestRequestsThatMayHaveFailedAreNotSentAgain: those of a connection of their own, and
// those to which a reply has begun.
func TestRequestsThatMayHaveFailedAreNotSentAgain(t *testing.T) {
	for name, server := range map[string]*impatient{
		"no reply on a new connection": newImpatient(t, "", ""),
		"a reply that breaks off":      newImpatient(t, wellAnswered, "HTTP/1.1 2"),
	} {
		env := environment(t)
		s := server.source(t, env, "http: {UP, json: $params.q}")
		failures := 0
		for range 2 {
			if _, err := ask(t, env, s, map[string]any{"q": "1"}); err != nil {
				failures++
			}
		}
		if asked := server.asked.Load() + server.cut.Load(); asked != 2 || failures == 0 {
			t.Errorf("%s: %d requests, want 2; %d failed", name, asked, failures)
		}
	}
}

// TestRequestsOfSharedConnectionsThatEndAreSentAgain: one that HTTP/2 keeps ends in the
// same way. A stream that is reset says nothing of the connection.
func TestRequestsOfSharedConnectionsThatEndAreSentAgain(t *testing.T) {
	var asked atomic.Int64
	type connection struct{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n := asked.Add(1); {
		case n == 2 && r.URL.Path == "/ends":
			_ = r.Context().Value(connection{}).(net.Conn).Close()
		case n == 2:
			panic(http.ErrAbortHandler)
		default:
			fmt.Fprint(w, `{"good":1}`)
		}
	}))
	server.EnableHTTP2 = true
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connection{}, c) }
	server.StartTLS()
	t.Cleanup(server.Close)
	for path, failures := range map[string]int{"/ends": 0, "/resets": 1} {
		env, roots := environment(t), x509.NewCertPool()
		roots.AddCert(server.Certificate())
		env.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots}
		for _, method := range []string{"", ", json: $params.q"} {
			asked.Store(0)
			s, failed := compile(t, env, "name: one\nhttp: {url: '"+server.URL+path+"'"+method+"}\n", "q"), 0
			for range 3 {
				if _, err := ask(t, env, s, map[string]any{"q": "1"}); err != nil {
					failed++
				}
			}
			if want := int64(4 - failures); failed != failures || asked.Load() != want {
				t.Errorf("%s%s: %d failed, want %d; %d requests, want %d", path, method, failed, failures, asked.Load(), want)
			}
		}
	}
}
