package express

import (
	"errors"
	"io"
	"net"
	"slices"
	"time"
)

// advance answers the requests that were read, and reports whether Read must return.
func (c *conn) advance() (done bool) {
	if c.first && !c.unseen.Load() {
		if c.filled = copy(c.buf, c.empty.skip(c.buf[:c.filled])); c.empty.expects(c.buf[:c.filled]) {
			return false
		}
	}
	x := c.lane.exchanges.Get().(*exchange)
	_, secure := c.wire.(secured)
	x.head.request.Peer, x.head.request.Secure, x.head.request.Arrived = c.peer, secure, time.Now()
	rest, v, err := c.answer(x)
	size, answered, now := x.head.size, x.answered, c.lane.instant(x.head.request.Arrived)
	x.release()
	c.lane.exchanges.Put(x)
	if err != nil {
		c.err = readError(c.Conn, err)
		return true
	}
	if answered > 0 {
		c.noteAnswered(now)
	}
	switch {
	case v == framed:
		c.pass(rest, size, now)
		return true
	case (v == incomplete || c.tooShort(len(rest))) && len(rest) < len(c.buf):
		c.filled = copy(c.buf, rest)
		c.limitHead(now)
		return false
	default:
		c.filled = copy(c.buf, rest)
		c.limitHead(now)
		c.handOver(now)
		return true
	}
}

// answer answers the plain requests at the beginning of what was read, and returns
// what is left of it and what that is.
func (c *conn) answer(x *exchange) (rest []byte, v verdict, err error) {
	rest = c.buf[:c.filled]
	for err == nil {
		v = x.head.parse(rest)
		if v == plain && (c.lane.draining.Load() || !x.answer(c.lane.answerer)) {
			v = framed
		}
		if v != plain {
			return rest, v, c.write(x)
		}
		c.lane.metrics.answered.Inc() // before it is written: a client that has its response finds it counted
		rest = rest[x.head.size:]
		if x.full() {
			err = c.write(x)
		}
	}
	return nil, v, err
}

// noteAnswered follows that requests were answered: the connection is idle from now on.
func (c *conn) noteAnswered(now instant) {
	if c.first && !c.unseen.Load() {
		c.unseen.Store(true)
	}
	c.begun = false
	c.idle.Store(int64(now))
	c.expire(now.after(c.timeouts.idle))
}

// expire sets when waiting ends. A deadline before that is moved on when it passes.
func (c *conn) expire(at instant) {
	c.expires = at
	if armed := instant(c.armed.Load()); at != 0 && (armed == 0 || armed > at) {
		c.arm(at)
	}
}

// limitHead bounds the time for a head that has begun. net/http bounds that for the
// first head from the beginning of the connection.
func (c *conn) limitHead(now instant) {
	if c.filled == 0 || c.begun || c.first && !c.unseen.Load() {
		return
	}
	c.begun = true
	c.expire(now.after(c.timeouts.header))
}

// pass makes Read return exactly the head at the beginning of rest, so that net/http
// has nothing of a request that follows.
func (c *conn) pass(rest []byte, size int, now instant) {
	c.lane.metrics.passed.Inc()
	if size < len(rest) {
		c.pending = slices.Clone(rest[size:])
	}
	c.n, c.place = copy(c.buf, rest[:size]), handling
	c.meetServer(now)
}

// handOver makes Read return all that was read, and leaves the connection to net/http,
// with the deadline that it would have set.
func (c *conn) handOver(now instant) {
	c.n = c.filled
	if instant(c.armed.Load()) != c.expires {
		c.arm(c.expires)
	}
	c.surrender()
	c.framing.follow(c.buf[:c.n])
	c.meetServer(now)
}

// meetServer follows that net/http gets the first request of the connection. It
// bounds the time to read that from the beginning of the connection, though that may
// be long ago: the lane has answered others since then.
func (c *conn) meetServer(now instant) {
	c.handled.Store(true)
	if c.unseen.Load() {
		c.unseen.Store(false)
		c.least = now.after(c.timeouts.read)
	}
	c.first = false
}

// leastHead are the bytes without which net/http closes a connection that is not at its
// first request: it answers with an error only to who has sent more.
const leastHead = 4

// tooShort reports whether net/http, without the lane, would wait for more than so many
// bytes before it reads any. It would not, of what it takes for the first request.
func (c *conn) tooShort(n int) bool { return n < leastHead && c.unseen.Load() }

// giveUp makes Read return what was read of a head, and why there is no more.
func (c *conn) giveUp(err error) {
	if c.tooShort(c.filled) {
		c.filled = 0
	}
	c.n, c.err = c.filled, readError(c.Conn, err)
	if c.filled > 0 {
		c.surrender()
		c.framing.follow(c.buf[:c.n])
	}
}

// write writes answers. When the client has let them wait, it is later: what it asks
// next arrives then.
func (c *conn) write(x *exchange) error {
	r := &x.response
	head, body, whole := r.Buf, r.Body, r.Body
	r.Buf, r.Body = head[:0], nil
	if len(head) > 0 {
		n, err := c.wire.send(head, body)
		if err != nil {
			return err
		}
		body = body[max(n-len(head), 0):]
		head = head[min(n, len(head)):]
	}
	if len(head)+len(body) == 0 {
		return nil
	}
	if err := c.lane.unsent.Hold(r.Client, whole); err != nil {
		return err
	}
	defer c.lane.unsent.Release(r.Client, whole)
	err := c.writeSlowly(head, body)
	x.head.request.Arrived = time.Now()
	return err
}

// writeSlowly waits for the client to read, piece by piece.
func (c *conn) writeSlowly(head, body []byte) error {
	by := paceOf(c.timeouts.write, len(body), time.Now())
	for len(head)+len(body) > 0 {
		if c.timeouts.write > 0 {
			if err := c.SetWriteDeadline(by.next(time.Now())); err != nil {
				return err
			}
		}
		piece := body[:min(slowPiece, len(body))]
		bufs := net.Buffers{head, piece}
		if _, err := bufs.WriteTo(c.Conn); err != nil {
			return err
		}
		head, body = nil, body[len(piece):]
	}
	return nil
}

// readError makes an error of Read for which net/http closes the connection without
// another word.
func readError(c net.Conn, err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return &net.OpError{Op: "read", Net: c.RemoteAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}
