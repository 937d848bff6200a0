//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// relay stands between instances and Redis, and counts round trips: what a client sends
// before it waits for replies. A pipeline of several commands is one.
type relay struct {
	listen net.Listener
	to     string
	// delay is how long each round trip is held back, in nanoseconds.
	delay atomic.Int64
	busy  sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]struct{} // nil once it is closed
	count trips
}

// trips are round trips by the step that they begin with, and the commands in them.
type trips struct {
	by       map[step]int
	commands int // of requests' steps
	releases int // of leases, whichever round trip they were in
}

// requests is the number of those that requests cause, rather than instances by being
// there.
func (t trips) requests() (n int) {
	for s, m := range t.by {
		if s.ofRequests() {
			n += m
		}
	}
	return n
}

func newRelay(to string) (*relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is listened on until close
	if err != nil {
		return nil, fmt.Errorf("counting round trips: %w", err)
	}
	r := &relay{listen: l, to: to, conns: map[net.Conn]struct{}{}, count: trips{by: map[step]int{}}}
	r.busy.Go(r.accept)
	return r, nil
}

func (r *relay) address() string { return r.listen.Addr().String() }

// close ends all connections, and returns when nothing runs any more.
func (r *relay) close() {
	_ = r.listen.Close() // that ends accept
	r.mu.Lock()
	for c := range r.conns {
		_ = c.Close() // that ends its copying
	}
	r.conns = nil
	r.mu.Unlock()
	r.busy.Wait()
}

// seen is what was counted since the last reset.
func (r *relay) seen() trips {
	r.mu.Lock()
	defer r.mu.Unlock()
	return trips{maps.Clone(r.count.by), r.count.commands, r.count.releases}
}

func (r *relay) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count = trips{by: map[step]int{}}
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

// join passes on what client and Redis send, until one of them ends.
func (r *relay) join(client net.Conn) {
	var dial net.Dialer
	server, err := dial.DialContext(context.Background(), "tcp", r.to)
	if err != nil {
		_ = client.Close() // the client learns it by that
		return
	}
	if !r.admit(client, server) {
		return
	}
	var answered atomic.Bool // since the last command
	answered.Store(true)
	end := func() { _, _ = client.Close(), server.Close() } // the other direction ends as well
	r.busy.Go(func() {
		defer end()
		_, _ = io.Copy(client, noticed{server, &answered}) // it ends when either does
	})
	defer end()
	_ = r.forward(server, bufio.NewReaderSize(client, 64<<10), &answered) // as above
}

// admit keeps the two connections for close; once that was called, it closes them.
func (r *relay) admit(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		if r.conns == nil {
			_ = c.Close() // nothing was sent
			continue
		}
		r.conns[c] = struct{}{}
	}
	return r.conns != nil
}

// noticed notes that something was read.
type noticed struct {
	io.Reader
	answered *atomic.Bool
}

func (n noticed) Read(p []byte) (int, error) {
	k, err := n.Reader.Read(p)
	if k > 0 {
		n.answered.Store(true)
	}
	return k, err
}

// forward counts and passes on commands: those that have arrived together at once.
func (r *relay) forward(server io.Writer, from *bufio.Reader, answered *atomic.Bool) error {
	for {
		first := true
		var sent []byte
		for first || from.Buffered() > 0 {
			args, raw, err := readCommand(from)
			if err != nil {
				return err
			}
			r.note(stepOf(args), first && answered.Swap(false))
			sent, first = append(sent, raw...), false
		}
		if d := r.delay.Load(); d > 0 {
			time.Sleep(time.Duration(d))
		}
		if _, err := server.Write(sent); err != nil {
			return err
		}
	}
}

// note counts a command, which begins a round trip or belongs to the one before.
func (r *relay) note(s step, begins bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s == release {
		r.count.releases++
	}
	if begins {
		r.count.by[s]++
	}
	if s.ofRequests() {
		r.count.commands++
	}
}

var errNoCommand = errors.New("not a command of Redis's protocol")

// readCommand reads an array of bulk strings, as clients send them, and returns it as it
// came as well.
func readCommand(from *bufio.Reader) (args []string, raw []byte, err error) {
	n, raw, err := readLength(from, '*', nil)
	if err != nil {
		return nil, nil, err
	}
	for range n {
		var size int
		if size, raw, err = readLength(from, '$', raw); err != nil {
			return nil, nil, err
		}
		begin := len(raw)
		raw = append(raw, make([]byte, size+len("\r\n"))...)
		if _, err := io.ReadFull(from, raw[begin:]); err != nil {
			return nil, nil, err
		}
		args = append(args, string(raw[begin:begin+size]))
	}
	return args, raw, nil
}

// readLength reads a line of a mark and a number, and appends it to raw.
func readLength(from *bufio.Reader, mark byte, raw []byte) (int, []byte, error) {
	line, err := from.ReadBytes('\n')
	if err != nil {
		return 0, nil, err
	}
	n, err := strconv.Atoi(strings.TrimRight(string(line[1:]), "\r\n"))
	if line[0] != mark || err != nil || n < 0 || n > 512<<20 {
		return 0, nil, fmt.Errorf("%w: %.40q", errNoCommand, line)
	}
	return n, append(raw, line...), nil
}
