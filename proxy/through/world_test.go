package through

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sundry/cache/web"
)

// memory is a listener whose connections are in this process. They stand still in the bubbles of synctest, so that time there
// passes only when everybody waits.
type memory struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newMemory() *memory { return &memory{conns: make(chan net.Conn), closed: make(chan struct{})} }

// Accept implements net.Listener.
func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

// Addr implements net.Listener.
func (m *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// dial connects to it.
func (m *memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, distant := net.Pipe()
	select {
	case m.conns <- distant:
		return pipe{near}, nil
	case <-m.closed:
		return nil, &net.OpError{Op: "dial", Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// pipe is an end of a connection in this process, which fails like one of the network after the other end is closed.
type pipe struct{ net.Conn }

// Write implements net.Conn.
func (p pipe) Write(b []byte) (int, error) {
	n, err := p.Conn.Write(b)
	if errors.Is(err, io.ErrClosedPipe) {
		err = &net.OpError{Op: "write", Err: syscall.EPIPE}
	}
	return n, err
}

// world is a handler between its callers and an origin, with the whole of net/http on both sides and no network.
type world struct {
	counter
	h      *Handler
	store  *web.Store
	front  *memory
	client *http.Transport
}

// counter counts the calls that an origin gets.
type counter struct {
	t     *testing.T
	calls atomic.Int64
}

// wantCalls requires that the origin was called so often.
func (c *counter) wantCalls(n int64) {
	c.t.Helper()
	if got := c.calls.Load(); got != n {
		c.t.Errorf("%d calls of the origin, not %d", got, n)
	}
}

// newWorld serves an origin.
func newWorld(t *testing.T, origin http.HandlerFunc, change ...func(*Settings)) *world {
	t.Helper()
	back := newMemory()
	s := serveWorld(t, back.dial, change...)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		origin(w, r)
	})}
	serveOrigin(t, back, server)
	return s
}

// serveOrigin serves what connects until the test ends.
func serveOrigin(t *testing.T, back *memory, server *http.Server) {
	t.Helper()
	server.ErrorLog = silent
	go func() { _ = server.Serve(back) }()
	t.Cleanup(func() { _ = server.Close() })
}

// serveWorld serves what answers at the other end of the connections that are made.
func serveWorld(t *testing.T, dial func(ctx context.Context, network, address string) (net.Conn, error), change ...func(*Settings)) *world {
	t.Helper()
	patient := func(s *Settings) { s.Idle = time.Minute }
	h := newHandler(t, "origin.test", true, dial, append([]func(*Settings){patient}, change...)...)
	s := &world{counter: counter{t: t}, h: h, store: h.store, front: newMemory()}
	s.client = &http.Transport{DialContext: s.front.dial, DisableCompression: true, MaxIdleConnsPerHost: 100}
	server := &http.Server{ErrorLog: silent, Handler: h, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}
	go func() { _ = server.Serve(s.front) }()
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		_ = server.Close()
	})
	return s
}

// connectTime is the time to connect of the handlers here.
const connectTime = 10 * time.Second

// newHandler is the handler of an origin, which dial connects to.
func newHandler(t *testing.T, origin string, keepAlive bool, dial func(ctx context.Context, network, address string) (net.Conn, error), change ...func(*Settings)) *Handler {
	t.Helper()
	store, err := web.NewStore(web.StoreConfig{Memory: 64 << 20, Variants: 50, Spools: web.NewSpoolMemory(16 << 20)})
	if err != nil {
		t.Fatal(err)
	}
	settings := Settings{Name: "test", Most: 8 << 20, Idle: 10 * time.Second, Tunnel: time.Minute, Rules: web.Rules{HeuristicShare: 0.1, HeuristicMost: time.Hour}}
	for _, f := range change {
		f(&settings)
	}
	target := Target{URL: &url.URL{Scheme: "http", Host: origin}, Sent: origin}
	o := NewOrigin([]Target{target}, First, Health{}, Connections{Connect: connectTime, Head: 30 * time.Second, KeepAlive: keepAlive}, dial)
	t.Cleanup(o.Close)
	return New(settings, o, store, slog.New(slog.DiscardHandler), nil)
}

// silent hears what net/http has to say of connections that break off.
var silent = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)

// asked is how a request ended.
type asked struct {
	status      int
	header      http.Header
	body        string
	first, took time.Duration // until the first byte of the body, and its end
	err         error         // the answer broke off, or there was none
}

// newRequest has fields as "name: value".
func newRequest(ctx context.Context, method, to, body string, lines []string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, to, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body == "" {
		r.Body, r.ContentLength = nil, 0
	}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Add(name, value)
	}
	return r, nil
}

// ask makes a request and reads its answer to the end.
func (s *world) ask(method, path, body string, lines ...string) (a asked) {
	r, err := newRequest(s.t.Context(), method, "http://api.test"+path, body, lines)
	if err != nil {
		return asked{err: err}
	}
	began := time.Now()
	resp, err := s.client.RoundTrip(r)
	if err != nil {
		return asked{err: err, took: time.Since(began)}
	}
	defer resp.Body.Close()
	a = asked{status: resp.StatusCode, header: resp.Header}
	var all strings.Builder
	one := make([]byte, 1)
	if n, err := io.ReadFull(resp.Body, one); n == 1 {
		all.Write(one)
		a.first = time.Since(began)
		_, a.err = io.Copy(&all, resp.Body)
	} else if !errors.Is(err, io.EOF) {
		a.err = err
	}
	a.body, a.took = all.String(), time.Since(began)
	return a
}

// get is ask for a GET.
func (s *world) get(path string, lines ...string) asked {
	return s.ask(http.MethodGet, path, "", lines...)
}
