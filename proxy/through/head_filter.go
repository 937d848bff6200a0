package through

import (
	"bytes"
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"
)

// maxHead is how long the head of a response may be: each that is read at the same time is in memory.
const maxHead = 256 << 10

// headFilter takes the field Transfer-Encoding out of the heads of responses unless it says chunked: net/http refuses
// such a response (golang/go#29162), and RFC 9112, section 6.3, has it read until the connection ends. A head begins
// where the connection is got for a request.
//
// It also has an answer heard behind which no more of the request can be sent: see Write.
type headFilter struct {
	net.Conn
	inHead atomic.Bool
	sent   atomic.Bool // something of the request that is under way
	held   []byte      // of a head that does not end yet
	ready  []byte      // what is to be read next
	err    error       // behind ready
}

// awaitHead has the filter of a connection look for the head of the response to the request that gets it. With TLS there is none to be seen.
func awaitHead(got httptrace.GotConnInfo) {
	conn := got.Conn
	over, secret := conn.(*tls.Conn)
	if secret {
		conn = over.NetConn()
	}
	if c, ok := conn.(*headFilter); ok {
		c.sent.Store(false)
		c.inHead.Store(!secret)
	}
}

// Write implements net.Conn. An origin that has enough of a request answers and closes the connection: for what could not be sent any more
// net/http would give up the answer, which lies there to be read. Where nothing was sent, it asks over another connection.
func (c *headFilter) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if c.sent.Load() && (errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)) {
		return len(b), nil
	}
	if n > 0 {
		c.sent.Store(true)
	}
	return n, err
}

// Read implements net.Conn. It may wait since before the request was written, so what it has read decides. As a rule that is
// a whole head, which is filtered where it lies.
func (c *headFilter) Read(b []byte) (int, error) {
	for len(c.ready) == 0 {
		if err := c.err; err != nil {
			c.err = nil
			return 0, err
		}
		n, err := c.Conn.Read(b)
		if !c.inHead.Load() {
			return n, err
		}
		if len(c.held) > 0 {
			c.ready, c.held = c.filter(append(c.held, b[:n]...), err != nil)
			c.err = err
			continue
		}
		out, rest := c.filter(b[:n], err != nil)
		if c.held = append(c.held, rest...); len(out) > 0 || err != nil {
			return len(out), err
		}
	}
	n := copy(b, c.ready)
	c.ready = c.ready[n:]
	return n, nil
}

// filter filters the heads in what was read, in place. Behind an interim response another one follows. rest is one that does
// not end yet; there is none where nothing more comes, or where it is too long.
func (c *headFilter) filter(b []byte, last bool) (out, rest []byte) {
	out = b[:0]
	for {
		end := headEnd(b)
		if end < 0 && !last && len(b) < maxHead {
			return out, b
		}
		if end < 0 {
			return append(out, b...), nil
		}
		head := b[:end]
		b = b[end:]
		final := !bytes.HasPrefix(head, []byte("HTTP/1.1 1")) || bytes.HasPrefix(head, []byte("HTTP/1.1 101"))
		out = appendHead(out, head)
		if final {
			c.inHead.Store(false)
			return append(out, b...), nil
		}
	}
}

// headEnd is where a head ends; -1: not yet. Some end their lines without CR, as net/http understands (RFC 9112, section 2.2).
func headEnd(b []byte) int {
	for at := 0; ; {
		n := bytes.IndexByte(b[at:], '\n')
		if n < 0 {
			return -1
		}
		at += n + 1
		switch {
		case bytes.HasPrefix(b[at:], []byte("\n")):
			return at + 1
		case bytes.HasPrefix(b[at:], []byte("\r\n")):
			return at + 2
		}
	}
}

// appendHead appends a head, which may lie there already, without lines of Transfer-Encoding that net/http does not understand,
// but for those that end in chunked: what these mean cannot be told without decoding it.
func appendHead(out, head []byte) []byte {
	const name = "transfer-encoding:"
	for len(head) > 0 {
		n := bytes.IndexByte(head, '\n') + 1
		line := head[:n]
		head = head[n:]
		if n > len(name) && bytes.EqualFold(line[:len(name)], []byte(name)) && !bytes.HasSuffix(bytes.ToLower(bytes.TrimSpace(line)), []byte("chunked")) {
			continue
		}
		out = append(out, line...)
	}
	return out
}
