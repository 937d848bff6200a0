package openloop

import (
	"errors"
	"fmt"
	"iter"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// Load is what is offered, over connections that are kept. One thread does all of it.
// While a request is due later it never sleeps, because a timer may be late by a
// millisecond, which is more than most answers take: give it a core of its own.
type Load struct {
	Address     string
	Connections int
	// Requests are complete heads, sent in their order, over and over.
	Requests [][]byte
	// Begin is the index of the first of them.
	Begin int
	// Head says that they are HEAD requests, whose answers have no body.
	Head bool
}

// Result is what came of it.
type Result struct {
	Took     []time.Duration // of answers, from when the request was due
	Statuses map[int]int     // number of answers by status
	Bytes    int64           // of all answers
	Span     time.Duration
}

// Answers is the number of answers.
func (r *Result) Answers() int { return len(r.Took) }

// patience is how long the server may say nothing while requests are outstanding.
const patience = 5 * time.Second

// Offer sends a request at each of the times, or as soon as a connection is free.
// A connection that breaks is an error: no server has a reason to close one.
func (l *Load) Offer(due iter.Seq[time.Duration]) (*Result, error) {
	d := &driver{load: l, result: &Result{Statuses: map[int]int{}}, next: l.Begin}
	defer d.close()
	if err := d.dial(); err != nil {
		return nil, fmt.Errorf("load on %s: %w", l.Address, err)
	}
	d.begin = time.Now()
	d.heard = d.begin
	for at := range due {
		if err := d.send(at); err != nil {
			return nil, fmt.Errorf("load on %s: %w", l.Address, err)
		}
	}
	d.result.Span = time.Since(d.begin)
	if err := d.finish(); err != nil {
		return nil, fmt.Errorf("load on %s: %w", l.Address, err)
	}
	return d.result, nil
}

// driver is a load while it runs.
type driver struct {
	load   *Load
	result *Result
	begin  time.Time
	heard  time.Time // when something arrived, or nothing was outstanding
	poll   int
	conns  map[int32]*conn
	idle   []*conn
	next   int
	events [256]unix.EpollEvent
}

// conn is a connection of the load, with the answer that is being read.
type conn struct {
	fd     int
	due    time.Duration
	reader answer
}

func (d *driver) dial() error {
	d.conns = map[int32]*conn{}
	address, err := net.ResolveTCPAddr("tcp4", d.load.Address)
	if err != nil {
		return err
	}
	if d.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	for range d.load.Connections {
		c, err := connect(address)
		if err != nil {
			return err
		}
		c.reader.head = d.load.Head
		d.conns[int32(c.fd)] = c
		d.idle = append(d.idle, c)
		if err := unix.EpollCtl(d.poll, unix.EPOLL_CTL_ADD, c.fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(c.fd)}); err != nil {
			return err
		}
	}
	return nil
}

func connect(to *net.TCPAddr) (*conn, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	address := &unix.SockaddrInet4{Port: to.Port}
	copy(address.Addr[:], to.IP.To4())
	if err := unix.Connect(fd, address); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return &conn{fd: fd}, unix.SetNonblock(fd, true)
}

// send waits until the request is due and a connection is free, and reads answers
// meanwhile.
func (d *driver) send(due time.Duration) error {
	for len(d.idle) == 0 {
		if err := d.receive(wait); err != nil {
			return err
		}
	}
	for time.Since(d.begin) < due {
		if err := d.receive(0); err != nil {
			return err
		}
	}
	// The one that has rested longest: servers close those that are never used.
	c := d.idle[0]
	d.idle = d.idle[1:]
	c.due = due
	request := d.load.Requests[d.next%len(d.load.Requests)]
	d.next++
	if n, err := unix.Write(c.fd, request); err != nil || n < len(request) {
		return fmt.Errorf("sending a request: %d of %d bytes: %w", n, len(request), err)
	}
	return nil
}

// wait is for how many milliseconds to wait for an answer where nothing else can be
// done.
const wait = 100

// receive reads what has arrived, or arrives within so many milliseconds.
func (d *driver) receive(milliseconds int) error {
	n, err := unix.EpollWait(d.poll, d.events[:], milliseconds)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return err
	}
	switch {
	case n > 0 || len(d.idle) == len(d.conns):
		d.heard = time.Now()
	case time.Since(d.heard) > patience:
		return fmt.Errorf("%d requests had no answer for %v", len(d.conns)-len(d.idle), patience)
	}
	for _, event := range d.events[:max(n, 0)] {
		c := d.conns[event.Fd]
		done, err := c.reader.read(c.fd)
		if err != nil {
			return err
		}
		if done {
			d.result.Took = append(d.result.Took, time.Since(d.begin)-c.due)
			d.result.Statuses[c.reader.status]++
			d.result.Bytes += c.reader.total
			c.reader.reset()
			d.idle = append(d.idle, c)
		}
	}
	return nil
}

// finish waits for the answers that are outstanding.
func (d *driver) finish() error {
	for len(d.idle) < len(d.conns) {
		if err := d.receive(wait); err != nil {
			return err
		}
	}
	return nil
}

func (d *driver) close() {
	for _, c := range d.conns {
		_ = unix.Close(c.fd)
	}
	_ = unix.Close(d.poll)
}
