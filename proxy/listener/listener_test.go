package listener

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/clients"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// nobody is the client of every peer, so that none has a limit of its own.
func nobody(netip.Addr) clients.ID { return clients.Nobody }

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
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	l := newListener(clients.Of, prometheus.NewRegistry(), slog.New(slog.NewTextHandler(&lines, nil)), 0)
	few := &starved{Listener: socket}
	few.left.Store(4)
	l.Use(few)
	srv := &http.Server{ConnState: l.ConnState, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	resp, err := http.Get("http://" + socket.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(resp.Body); string(body) != "ok" || err != nil {
		t.Errorf("served %q %v", body, err)
	}
	_ = resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if err := errors.Join(srv.Close(), l.Close()); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("served until %v", err)
	}
	if n := testutil.ToFloat64(l.failures); n != 4 {
		t.Errorf("%v failures counted", n)
	}
	if text := lines.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "level=ERROR") || !strings.Contains(text, "too many open files") {
		t.Errorf("logged:\n%s", text)
	}
	if l.failed(syscall.EMFILE, time.Now().Add(time.Minute)); strings.Count(lines.String(), "\n") != 2 {
		t.Errorf("a minute later, logged:\n%s", &lines)
	}
}

// TestRoomForConnections: the one that has been idle for longest makes room, and a busy one
// never; without an idle one there is none, until the listener is closed.
func TestRoomForConnections(t *testing.T) {
	c := newConnections(prometheus.NewRegistry(), 3, nobody)
	now := time.Now()
	all := make([]net.Conn, 3)
	for i := range all {
		if !c.makeRoom() {
			t.Fatalf("no room with %d connections", i)
		}
		all[i], _ = net.Pipe()
		defer all[i].Close()
		c.note(all[i], http.StateNew, now.Add(time.Duration(i)))
		c.note(all[i], http.StateActive, now)
	}
	if c.makeRoom() {
		t.Fatal("a busy connection is closed")
	}
	c.admit(all[0], func() bool { return true }) // the listener is closed
	c.note(all[2], http.StateIdle, now.Add(time.Second))
	c.note(all[1], http.StateIdle, now.Add(2*time.Second))
	c.admit(all[0], func() bool { return false })
	for i, want := range []bool{false, false, true} {
		if closed := all[i].SetDeadline(now) != nil; closed != want {
			t.Errorf("connection %d: closed: %v", i, closed)
		}
		c.note(all[i], http.StateClosed, now)
	}
	if n, evicted := c.served.Load(), testutil.ToFloat64(c.evicted); n != 0 || evicted != 1 || len(c.open) != 0 {
		t.Errorf("in the end %d connections, %v evicted", n, evicted)
	}
	for files, want := range map[uint64]int{0: 0, 256: 85, 1024: 341, 65_536: 28_672} {
		if got := part(files); got != want {
			t.Errorf("%d files: %d connections, want %d", files, got, want)
		}
	}
}

// onLane is a connection on which the express lane answers, and that counts who looks at it.
type onLane struct {
	net.Conn
	since  time.Time
	busy   bool
	closed bool
	looks  *int
}

// RemoteAddr implements net.Conn.
func (*onLane) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// Waiting implements waiting.
func (l *onLane) Waiting() (since time.Time, ok bool) {
	*l.looks++
	return l.since, !l.busy
}

func (l *onLane) Close() error {
	l.closed = true
	return nil
}

// TestRoomCostsNoLookAtAll: where few connections of many are idle, as under attack, one more
// connection does not cost a look at each of them, whoever answers on those. The one that has
// been idle for longest is closed all the same.
func TestRoomCostsNoLookAtAll(t *testing.T) {
	const most, more = 1000, 10_000
	for name, busy := range map[string]http.ConnState{"net/http answers": http.StateActive, "the lane answers": http.StateNew} {
		synctest.Test(t, func(t *testing.T) {
			c := newConnections(prometheus.NewRegistry(), most, nobody)
			looks := 0
			connect := func() *onLane {
				nc := &onLane{looks: &looks, since: time.Now()}
				c.note(nc, http.StateNew, nc.since)
				return nc
			}
			all := make([]*onLane, most)
			for i := range all {
				all[i] = connect()
				all[i].busy = true
				c.note(all[i], busy, time.Now())
			}
			c.note(all[0], http.StateClosed, time.Now())
			for n := range more {
				next := connect()
				if !c.makeRoom() || !next.closed {
					t.Fatalf("%s: no room for connection %d, or not that of the idle one", name, n)
				}
				c.note(next, http.StateClosed, time.Now())
			}
			if looks > most+2*more {
				t.Errorf("%s: %d looks for %d connections", name, looks, more)
			}
		})
	}
}

// TestTheLaneKnowsWhoIsIdle: of connections that net/http has not heard of since they were made,
// the one is closed on which the lane answered longest ago; none on which it does.
func TestTheLaneKnowsWhoIsIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConnections(prometheus.NewRegistry(), 4, nobody)
		looks, all := 0, make([]*onLane, 4)
		for i, answered := range []time.Duration{3, 1, 0, 2} {
			all[i] = &onLane{looks: &looks, since: time.Now().Add(answered * time.Second), busy: i == 2}
			c.note(all[i], http.StateNew, time.Now())
		}
		time.Sleep(time.Minute)
		for _, want := range []int{1, 3, 0} {
			if !c.makeRoom() || !all[want].closed {
				t.Errorf("connection %d is not closed", want)
			}
			c.note(&onLane{looks: &looks, busy: true}, http.StateNew, time.Now())
		}
		if c.makeRoom() || all[2].closed {
			t.Error("a connection is closed on which the lane answers")
		}
		all[2].busy, all[2].since = false, time.Now()
		c.admit(all[0], func() bool { return false })
		if !all[2].closed {
			t.Error("the one on which the lane has answered is not closed")
		}
	})
}

// from is a connection of a peer.
type from struct {
	net.Conn
	peer string
}

// RemoteAddr implements net.Conn.
func (f *from) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(f.peer), 1234))
}

// TestConnectionsOfOneClient: a client has a quarter of the connections that others leave, be they taken over or not, and makes room for another
// one by its own idle ones alone. Others get theirs.
func TestConnectionsOfOneClient(t *testing.T) {
	t.Parallel()
	c := newConnections(prometheus.NewRegistry(), 40, clients.Of)
	connect := func(peer string) (*from, bool) {
		conn, _ := net.Pipe()
		t.Cleanup(func() { _ = conn.Close() })
		nc := &from{conn, peer}
		if !c.admit(nc, func() bool { return true }) {
			return nil, false
		}
		c.note(nc, http.StateNew, time.Now())
		return nc, true
	}
	var taken []*from
	for i := range 10 {
		nc, ok := connect("192.0.2.1")
		if !ok {
			t.Fatalf("no room for connection %d", i)
		}
		c.note(nc, http.StateActive, time.Now())
		if i%2 == 0 {
			c.note(nc, http.StateHijacked, time.Now())
			taken = append(taken, nc)
		}
	}
	if _, ok := connect("192.0.2.1"); ok {
		t.Error("a client with ten busy connections of forty gets one more")
	}
	other, ok := connect("192.0.2.2")
	if !ok {
		t.Fatal("another client gets none")
	}
	c.ended(taken[0])
	c.ended(taken[1])
	last, ok := connect("192.0.2.1")
	if !ok || c.count() != 10 {
		t.Errorf("after two have ended: %v, %d are open", ok, c.count())
	}
	if _, ok := connect("192.0.2.1"); !ok || last.SetDeadline(time.Now()) == nil || other.SetDeadline(time.Now()) != nil {
		t.Error("the client's own idle connection does not make room")
	}
	if refused, evicted := testutil.ToFloat64(c.refused), testutil.ToFloat64(c.evicted); refused != 1 || evicted != 1 {
		t.Errorf("%v refused, %v evicted", refused, evicted)
	}
}

// underTLS is a connection whose alert waits for a client that reads nothing.
type underTLS struct {
	net.Conn
	below net.Conn
	t     *testing.T
}

func (c *underTLS) NetConn() net.Conn { return c.below }

func (c *underTLS) Close() error {
	c.t.Error("an alert is sent")
	return nil
}

// TestNobodyWaitsForAnAlert: a TLS connection replaces the connection below it in the counts. It is cut where room is needed, and at the end.
func TestNobodyWaitsForAnAlert(t *testing.T) {
	t.Parallel()
	l := newListener(func(netip.Addr) clients.ID { return clients.Nobody }, nil, slog.New(slog.DiscardHandler), 1)
	open := func() (secured *underTLS, client net.Conn) {
		client, below := net.Pipe()
		l.ConnState(below, http.StateNew)
		secured = &underTLS{below, below, t}
		l.ConnState(secured, http.StateNew)
		if n := l.Connections(); n != 1 {
			t.Errorf("%d connections", n)
		}
		if n := l.connections.count(); n != 1 {
			t.Errorf("%d connections are counted", n)
		}
		return secured, client
	}
	secured, client := open()
	if !l.connections.makeRoom() {
		t.Error("no room is made")
	}
	if _, err := client.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open")
	}
	l.ConnState(secured, http.StateClosed)
	_, client = open()
	l.Cut()
	if _, err := client.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open")
	}
}
