package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/upstreams/lib/waittest"
)

// kept is a connection that a client keeps after its requests were answered.
type kept struct {
	net.Conn
	answers *bufio.Reader
}

// keep opens a connection.
func keep(t *testing.T, public string) kept {
	t.Helper()
	c, err := net.DialTimeout("tcp", strings.TrimPrefix(public, "http://"), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return kept{c, bufio.NewReader(c)}
}

// ask makes a request, and returns the status; 0 where the connection was closed.
func (k kept) ask(path string) int {
	_ = k.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = fmt.Fprintf(k, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
	resp, err := http.ReadResponse(k.answers, nil)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// TestKeptConnectionsLeaveDescriptors: however many connections clients keep, new ones are
// served, and so are the admin listener and what needs a descriptor besides. The connection
// that has been idle for longest is closed first, whoever answered on it.
func TestKeptConnectionsLeaveDescriptors(t *testing.T) {
	t.Setenv(fileLimit, "256")
	for _, express := range []string{"true", "false"} {
		t.Run("express "+express, func(t *testing.T) {
			m := startSibling(t, "express: "+express+"\n"+only("qrcode"), "--replay")
			const path = "/api/qrcode?text=a"
			used := keep(t, m.public)
			for i := range 300 {
				if status := keep(t, m.public).ask([]string{path, "/docs", "/healthz"}[i%3]); status != http.StatusOK {
					t.Fatalf("connection %d: status %d", i, status)
				}
				if i%50 == 0 {
					if status := used.ask(path); status != http.StatusOK {
						t.Fatalf("with %d connections, the one in use is closed: status %d", i, status)
					}
				}
			}
			client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
			for _, url := range []string{m.admin + "/metrics", m.admin + "/admin/", m.public + path} {
				resp, err := client.Get(url)
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					t.Errorf("%s: status %d", url, resp.StatusCode)
				}
			}
			if most := m.metric("sundry_connections_limit"); most != "85" {
				t.Errorf("limit of connections: %s", most)
			}
			if evicted := m.metric("sundry_connection_evictions_total"); evicted == "0" {
				t.Error("no idle connection was closed")
			}
			if failed := m.metric("sundry_accept_failures_total"); failed != "0" {
				t.Errorf("%s connections could not be accepted", failed)
			}
		})
	}
}

// TestSlowUpstreamsLeaveDescriptors: where all public connections wait for upstreams, each of
// which takes a descriptor as well, the admin listener is reached.
func TestSlowUpstreamsLeaveDescriptors(t *testing.T) {
	t.Setenv(fileLimit, "256")
	const endpoints = 4
	var asked atomic.Int64
	hold, dir := make(chan struct{}), t.TempDir()
	up := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	})
	for i := range endpoints { // each of a host of its own, whose calls are bounded
		s := httptest.NewServer(up)
		t.Cleanup(s.Close)
		writeSources(t, dir, fmt.Sprint("own", i), "ttl: 1h", `sources: [{name: up, timeout: 20s, http: {url: "`+s.URL+`/", query: {id: "{id}"}}}]`)
	}
	t.Cleanup(func() { close(hold) })
	m := startSibling(t, "", "--catalog", dir)
	most, err := strconv.ParseInt(m.metric("sundry_connections_limit"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 160 {
		_, _ = fmt.Fprintf(keep(t, m.public), "GET /api/own%d?id=%d HTTP/1.1\r\nHost: x\r\n\r\n", i%endpoints, i+1)
	}
	waittest.Until(t, "each has its upstream", func() bool { return asked.Load() >= most })
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for range 3 {
		resp, err := client.Get(m.admin + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	if failed := m.metric("sundry_accept_failures_total"); failed != "0" {
		t.Errorf("%s connections could not be accepted", failed)
	}
}

// TestRoomForConnections: the one that has been idle for longest makes room, and a busy one
// never; without an idle one there is none, until the listener is closed.
func TestRoomForConnections(t *testing.T) {
	c, err := newConnections(prometheus.NewRegistry(), 3)
	if err != nil {
		t.Fatal(err)
	}
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
	c.awaitRoom(func() bool { return true }) // the listener is closed
	c.note(all[2], http.StateIdle, now.Add(time.Second))
	c.note(all[1], http.StateIdle, now.Add(2*time.Second))
	c.awaitRoom(func() bool { return false })
	for i, want := range []bool{false, false, true} {
		if closed := all[i].SetDeadline(now) != nil; closed != want {
			t.Errorf("connection %d: closed: %v", i, closed)
		}
		c.note(all[i], http.StateClosed, now)
	}
	if n, evicted := c.n.Load(), testutil.ToFloat64(c.evicted); n != 0 || evicted != 1 || len(c.open) != 0 {
		t.Errorf("in the end %d connections, %v evicted", n, evicted)
	}
	for files, want := range map[uint64]int{0: 0, 256: 85, 1024: 341, 65_536: 57_344} {
		if got := publicPart(files); got != want {
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
			c, err := newConnections(prometheus.NewRegistry(), most)
			if err != nil {
				t.Fatal(err)
			}
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
		c, err := newConnections(prometheus.NewRegistry(), 4)
		if err != nil {
			t.Fatal(err)
		}
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
		c.awaitRoom(func() bool { return false })
		if !all[2].closed {
			t.Error("the one on which the lane has answered is not closed")
		}
	})
}
