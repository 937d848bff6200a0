//go:build linux

package express

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shop answers the same to the same request in the lane and in net/http, where both
// may answer it. Its answers tell what was read of the request.
type shop struct {
	answered atomic.Int64 // in the lane
	handled  atomic.Int64 // by net/http
	arrived  atomic.Int64 // when the last one did that the lane answered, in Unix nanoseconds
	big      []byte
	panics   atomic.Bool
	enter    chan struct{} // a request for /wait sends here
	leave    chan error    // and its end of waiting
}

func newShop() *shop {
	return &shop{big: bytes.Repeat([]byte("0123456789abcdef"), 20<<10), enter: make(chan struct{}), leave: make(chan error, 1)}
}

// huge is more than the buffers of a connection hold.
var huge = sync.OnceValue(func() []byte { return bytes.Repeat([]byte("0123456789abcdef"), 2<<20) })

// body is what both answer; false: the lane passes the request.
func (s *shop) body(path, echo string) (head string, body []byte, ready bool) {
	switch {
	case strings.HasPrefix(path, "/hit"):
		return "", []byte(echo), true
	case path == "/big":
		return "", s.big, true
	case path == "/huge":
		return "", huge(), true
	case path == "/medium":
		return "", s.big[:30<<10], true
	default:
		return "", []byte("miss " + echo), false
	}
}

// Answer implements Answerer.
func (s *shop) Answer(q *Request, r *Response) bool {
	if s.panics.Load() {
		panic("the shop is on fire")
	}
	var values strings.Builder
	for i := range shopFields {
		fmt.Fprintf(&values, "|%s", q.Field(i))
	}
	echo := fmt.Sprintf("%s|%s|%s|%s|%s%s", q.Target, q.Path, q.Query, q.Host, q.Peer, values.String())
	_, body, ready := s.body(q.Path, echo)
	if !ready {
		r.Buf = append(r.Buf, "nothing of this may be seen"...)
		return false
	}
	s.answered.Add(1)
	s.arrived.Store(q.Arrived.UnixNano())
	r.Buf = fmt.Appendf(r.Buf, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nContent-Type: text/plain\r\nDate: %s\r\n\r\n",
		len(body), q.Arrived.UTC().Format(http.TimeFormat))
	if !q.Head {
		r.Body = body
	}
	return true
}

// ServeHTTP implements http.Handler.
func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.handled.Add(1)
	if r.URL.Path == "/wait" {
		s.enter <- struct{}{}
		<-r.Context().Done()
		s.leave <- r.Context().Err()
		return
	}
	if r.URL.Path == "/hijack" {
		c, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer c.Close()
		rest, err := io.ReadAll(rw)
		fmt.Fprintf(c, "hijacked with %q and %v", rest, err)
		return
	}
	var values strings.Builder
	for _, name := range shopFields {
		fmt.Fprintf(&values, "|%s", r.Header.Get(name))
	}
	var peer netip.Addr
	if ap, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		peer = ap.Addr().Unmap()
	}
	_, body, _ := s.body(r.URL.Path, fmt.Sprintf("%s|%s|%s|%s|%s%s", r.RequestURI, r.URL.Path, r.URL.RawQuery, r.Host, peer, values.String()))
	if strings.HasPrefix(r.URL.Path, "/read") {
		sent, err := io.ReadAll(r.Body)
		body = fmt.Appendf(body, "|%q|%v", sent, err)
	}
	if strings.HasPrefix(r.URL.Path, "/close") {
		w.Header().Set("Connection", "close")
	}
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.Write(body)
}

// site is a server in a test, with the lane or without.
type site struct {
	*shop
	server *http.Server
	lane   *Lane
	addr   string
	// accepted are the server's ends of connections, in the order of their beginning.
	accepted chan net.Conn
	serving  chan error
	network  string
	wrap     func(net.Conn) net.Conn
	tls      *tls.Config // of clients; nil means none
}

// recorder passes connections on as its mode has them.
type recorder struct {
	net.Listener
	accepted chan net.Conn
	wrap     func(net.Conn) net.Conn
}

func (r recorder) Accept() (net.Conn, error) {
	c, err := r.Listener.Accept()
	if err != nil {
		return nil, err
	}
	select {
	case r.accepted <- c:
	default: // nobody asks in this test
	}
	return r.wrap(c), nil
}

type siteOption func(*site, *http.Server)

func openSite(t testing.TB, options ...siteOption) *site {
	t.Helper()
	s := &site{shop: newShop(), accepted: make(chan net.Conn, 64), serving: make(chan error, 1)}
	lane, err := New(Config{Answerer: s.shop, Fields: shopFields})
	if err != nil {
		t.Fatal(err)
	}
	s.lane = lane
	s.open(t, options...)
	return s
}

// openPlainSite has no lane. Its requests are followed all the same.
func openPlainSite(t testing.TB, options ...siteOption) *site {
	t.Helper()
	s := &site{shop: newShop(), accepted: make(chan net.Conn, 64), serving: make(chan error, 1)}
	s.open(t, options...)
	return s
}

func (s *site) open(t testing.TB, options ...siteOption) {
	t.Helper()
	s.network, s.wrap = "tcp", func(c net.Conn) net.Conn { return c }
	s.server = &http.Server{Handler: s.shop, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 10 * time.Second, IdleTimeout: 10 * time.Second, ErrorLog: discardLog()}
	for _, o := range options {
		o(s, s.server)
	}
	ln := s.listen(t)
	if s.lane != nil {
		ln = s.lane.Attach(s.server, ln)
	} else {
		ln = Follow(s.server, ln)
	}
	go func() { s.serving <- s.server.Serve(ln) }()
	t.Cleanup(func() {
		s.server.Close()
		<-s.serving
	})
}

func (s *site) listen(t testing.TB) net.Listener {
	t.Helper()
	addr := "127.0.0.1:0"
	if s.network == "unix" {
		addr = filepath.Join(t.TempDir(), "socket")
	}
	ln, err := net.Listen(s.network, addr)
	if err != nil {
		t.Fatal(err)
	}
	s.addr = ln.Addr().String()
	return recorder{ln, s.accepted, s.wrap}
}

func (s *site) dial(t testing.TB) net.Conn {
	t.Helper()
	c, err := net.Dial(s.network, s.addr)
	if err != nil {
		t.Fatal(err)
	}
	if s.tls != nil {
		c = tls.Client(c, s.tls)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second))
	return c
}

func send(t testing.TB, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatalf("sending %.60q: %v", text, err)
	}
}
