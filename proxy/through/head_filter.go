package through

import (
	"bytes"
	"net"
	"sync/atomic"
)

// maxHead is how much of a response is looked at for the end of its head.
const maxHead = 256 << 10

// headFilter takes the field Transfer-Encoding out of the heads of responses unless it says chunked: net/http refuses
// such a response (golang/go#29162), and RFC 9112, section 6.3, has it read until the connection ends. A head begins
// after each request that was written.
type headFilter struct {
	net.Conn
	inHead atomic.Bool
	held   []byte // of a head that does not end yet
	ready  []byte // what is to be read next
	err    error  // behind ready
}

// Write implements net.Conn. What does not begin with a request line is more of a body.
func (c *headFilter) Write(b []byte) (int, error) {
	if line, _, _ := bytes.Cut(b, []byte("\r\n")); bytes.HasSuffix(line, []byte(" HTTP/1.1")) {
		c.inHead.Store(true)
	}
	return c.Conn.Write(b)
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
		end := bytes.Index(b, []byte("\r\n\r\n"))
		if end < 0 && !last && len(b) < maxHead {
			return out, b
		}
		if end < 0 {
			return append(out, b...), nil
		}
		head := b[:end+4]
		b = b[end+4:]
		final := !bytes.HasPrefix(head, []byte("HTTP/1.1 1")) || bytes.HasPrefix(head, []byte("HTTP/1.1 101"))
		out = appendHead(out, head)
		if final {
			c.inHead.Store(false)
			return append(out, b...), nil
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
