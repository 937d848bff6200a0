package main

import (
	"bytes"
	"net"
	"sync"
	"testing"
	"time"
)

// relay stands between an instance and Redis, and loses what it is told to.
type relay struct {
	t      testing.TB
	listen net.Listener
	to     string
	busy   sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	away  bool
	// lose judges a reply of Redis's; nil loses nothing.
	lose func(reply []byte) loss
	// late is how long a reply is held back; nil delays nothing.
	late func(reply []byte) time.Duration
	// narrow is how many bytes a second each connection carries to Redis; 0 means any number.
	narrow int
}

// loss is what becomes of a reply.
type loss int

const (
	passed loss = iota
	swallowed
	cut // with its connection
)

func newRelay(t testing.TB, to string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{t: t, listen: l, to: to, conns: map[net.Conn]struct{}{}}
	r.busy.Go(r.accept)
	t.Cleanup(func() {
		_ = l.Close()
		r.set(true, nil)
		r.busy.Wait()
	})
	return r
}

func (r *relay) url() string { return "redis://" + r.listen.Addr().String() + "/0" }

// set says what is lost from now on; while it is away, everything is.
func (r *relay) set(away bool, lose func([]byte) loss) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away, r.lose = away, lose
	for c := range r.conns {
		if away {
			_ = c.Close()
		}
	}
}

// slow delays from now on.
func (r *relay) slow(late func(reply []byte) time.Duration, narrow int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late, r.narrow = late, narrow
}

func (r *relay) accept() {
	for {
		c, err := r.listen.Accept()
		if err != nil {
			return
		}
		r.busy.Go(func() { r.join(c) })
	}
}

func (r *relay) join(client net.Conn) {
	server, err := net.Dial("tcp", r.to)
	if err != nil {
		_ = client.Close()
		return
	}
	if !r.admit(client, server) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { r.carry(server, client, r.squeeze) })
	both.Go(func() { r.carry(client, server, r.judge) })
	both.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, client)
	delete(r.conns, server)
}

func (r *relay) admit(client, server net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away {
		_, _ = client.Close(), server.Close()
		return false
	}
	r.conns[client], r.conns[server] = struct{}{}, struct{}{}
	return true
}

func (r *relay) judge(reply []byte) loss {
	r.mu.Lock()
	what, wait := passed, time.Duration(0)
	if r.lose != nil {
		what = r.lose(reply)
	}
	if r.late != nil {
		wait = r.late(reply)
	}
	r.mu.Unlock()
	if wait > 0 {
		<-time.After(wait)
	}
	return what
}

// squeeze lets a request through at the rate of a narrow link.
func (r *relay) squeeze(request []byte) loss {
	r.mu.Lock()
	narrow := r.narrow
	r.mu.Unlock()
	if narrow > 0 {
		<-time.After(time.Duration(len(request)) * time.Second / time.Duration(narrow))
	}
	return passed
}

// carry copies until either end is closed, and closes both.
func (r *relay) carry(to, from net.Conn, judge func([]byte) loss) {
	defer func() { _, _ = to.Close(), from.Close() }()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		switch judge(b[:n]) {
		case cut:
			return
		case passed:
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
	}
}

// notices of changes are lost.
func notices(reply []byte) loss {
	if bytes.Contains(reply, []byte("message")) && bytes.Contains(reply, []byte("changed")) {
		return swallowed
	}
	return passed
}

// reads of the settings are lost, so many of them.
func reads(most int, how loss) func([]byte) loss {
	return func(reply []byte) loss {
		if most > 0 && bytes.Contains(reply, []byte(`"seq":`)) {
			most--
			return how
		}
		return passed
	}
}
