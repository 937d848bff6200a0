package through

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"
)

// maxHead is the size limit of a response header: each that is read at the same time is in memory.
const maxHead = 256 << 10

// maxFields limits the fields of a response: each of them takes as much time as a hundred bytes.
const maxFields = 200

var errFields = fmt.Errorf("the response has more than %d fields", maxFields)

// headFilter is a connection that speaks HTTP/1.1 with an origin. It checks and rewrites the response headers before net/http
// reads them (see appendHead), lets no bytes through that arrive before a request is sent, and makes sure that
// a response is read even if the rest of its request can no longer be sent.
type headFilter struct {
	net.Conn
	in     *inbound
	inHead atomic.Bool
	last   atomic.Bool  // the connection carries a request body, and ends with the response
	phase  atomic.Int32 // of the request on the connection
	held   []byte       // beginning of a header
	lines  int          // length of the complete lines of held
	seen   int          // length of held that was searched for the end of a line
	ready  []byte       // what Read returns next
	err    error        // what Read returns after ready
}

// Phases of a request.
const (
	noRequest  = iota
	unsent     // it has got the connection
	partlySent // or all of it is sent
)

// awaitHead prepares the connection that a request has got for its response.
//
// net/http gives a connection to the next request before it looks whether it holds more than one response. If it
// does, net/http closes the connection; if not, it waits for bytes. awaitHead returns when either is the case. What is not yet
// read then is found by Write.
func awaitHead(got httptrace.GotConnInfo) {
	if over, ok := got.Conn.(*tls.Conn); ok { // HTTP/2
		if c, ok := over.NetConn().(*headFilter); ok {
			c.phase.Store(unsent)
		}
		return
	}
	c, ok := got.Conn.(*headFilter)
	if !ok {
		return
	}
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	_ = c.in.await() // Write fails then
	c.phase.Store(unsent)
	c.inHead.Store(true)
}

// Write implements net.Conn. An origin that rejects a request may respond and close the connection before it has read all of
// it. Write then reports success, because net/http would drop the response at an error. If nothing was sent,
// net/http sends the request on another connection.
//
// Bytes that have arrived before a request is sent are no response to it (RFC 9112, section 9.2): nothing is sent then. If they arrive
// later, nothing distinguishes them from its response.
func (c *headFilter) Write(b []byte) (int, error) {
	first, err := c.begin()
	if err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(b)
	if !first && c.phase.Load() == partlySent && (errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)) {
		return len(b), nil
	}
	return n, err
}

// begin begins to send what Write has got, and reports whether it is the beginning of a request.
func (c *headFilter) begin() (first bool, err error) {
	if !c.inHead.Load() { // HTTP/2, or the rest of a request that is answered
		return c.phase.CompareAndSwap(unsent, partlySent), nil
	}
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	if c.phase.Load() != unsent {
		return false, nil
	}
	if err := c.in.awaitSilence(); err != nil {
		return false, err
	}
	c.phase.Store(partlySent)
	return true, nil
}

// CloseWrite ends what the origin gets in another protocol.
func (c *headFilter) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

// Close implements net.Conn.
func (c *headFilter) Close() error {
	c.in.end(net.ErrClosed)
	return c.Conn.Close()
}

// errUnrequested means that the origin sent bytes before it got a request.
var errUnrequested = errors.New("the origin has sent a response without a request")

// read reads from the connection.
func (c *headFilter) read(b []byte) (int, error) {
	c.in.begin()
	n, err := c.Conn.Read(b)
	if n > 0 && c.inHead.Load() && c.phase.Load() == unsent {
		n, err = 0, errUnrequested
	}
	c.in.end(err)
	return n, err
}

// Read implements net.Conn. It may have begun before the request was written, so inHead counts when bytes have arrived.
// They mostly are a complete header, which is filtered in place.
func (c *headFilter) Read(b []byte) (int, error) {
	for len(c.ready) == 0 {
		if c.err != nil {
			return 0, c.err
		}
		n, err := c.read(b)
		if !c.inHead.Load() {
			return n, err
		}
		c.err = err
		if len(c.held) > 0 {
			c.ready, c.held = c.filter(append(c.held, b[:n]...))
			continue
		}
		out, rest := c.filter(b[:n])
		c.held = append(c.held, rest...)
		if len(out) > 0 && &out[0] == &b[0] {
			return len(out), nil
		}
		c.ready = out
	}
	n := copy(b, c.ready)
	c.ready = c.ready[n:]
	return n, nil
}

// errLongHead means that the header of a response exceeds maxHead.
var errLongHead = errors.New("the response header is too long")

// filter filters the headers at the beginning of b, in place if none gets longer. An interim response is followed by another one. rest is
// the beginning of a header.
func (c *headFilter) filter(b []byte) (out, rest []byte) {
	out = b[:0]
	if c.last.Load() {
		out = nil
	}
	for {
		end := c.headEnd(b)
		switch {
		case end < 0 && c.err != nil:
			return append(out, b...), nil // net/http reports that the connection has ended
		case end < 0 && len(b) >= maxHead:
			return c.refuse(out, errLongHead), nil
		case end < 0:
			return out, b
		}
		final := !isInterim(b[:end])
		more, err := appendHead(out, b[:end], final && c.last.Load())
		if err != nil {
			return c.refuse(out, err), nil
		}
		if out, b = more, b[end:]; final {
			c.inHead.Store(false)
			return append(out, b...), nil
		}
	}
}

// refuse makes net/http fail with an error. It gets a byte first: it sends the request again if there is none.
func (c *headFilter) refuse(out []byte, err error) []byte {
	c.inHead.Store(false)
	c.err = err
	return append(out, 'H')
}

// headEnd returns the length of the header at the beginning of b, or -1 if it is incomplete. A line may end without CR, as in
// net/http (RFC 9112, section 2.2).
func (c *headFilter) headEnd(b []byte) int {
	at, seen := c.lines, c.seen
	for {
		n := bytes.IndexByte(b[seen:], '\n')
		if n < 0 {
			c.lines, c.seen = at, len(b)
			return -1
		}
		line := b[at : seen+n]
		at = seen + n + 1
		seen = at
		if len(line) == 0 || string(line) == "\r" {
			c.lines, c.seen = 0, 0
			return at
		}
	}
}

// isInterim reports whether net/http takes a header for the one of an interim response.
func isInterim(head []byte) bool {
	_, status, _ := bytes.Cut(head, []byte(" "))
	status = bytes.TrimLeft(status, " ")
	return bytes.HasPrefix(status, []byte("1")) && !bytes.HasPrefix(status, []byte("101"))
}
