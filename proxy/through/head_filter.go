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
	buf    []byte // what was read of a head
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

// Read implements net.Conn. It may wait since before the request was written, so what it has read decides.
func (c *headFilter) Read(b []byte) (int, error) {
	for len(c.ready) == 0 {
		if c.err != nil {
			err := c.err
			c.err = nil
			return 0, err
		}
		n, err := c.Conn.Read(b)
		if !c.inHead.Load() {
			return n, err
		}
		c.read(b[:n], err)
	}
	n := copy(b, c.ready)
	c.ready = c.ready[n:]
	return n, nil
}

// read takes more of a head, and has it ready once it ends.
func (c *headFilter) read(b []byte, err error) {
	c.buf = append(c.buf, b...)
	if c.err = err; err == nil && len(c.buf) < maxHead && !bytes.Contains(c.buf, []byte("\r\n\r\n")) {
		return
	}
	read := c.buf
	c.buf = nil
	c.ready = c.filtered(read)
}

// filtered is what was read with its heads filtered. Behind an interim response another head follows.
func (c *headFilter) filtered(b []byte) []byte {
	var out []byte
	for {
		end := bytes.Index(b, []byte("\r\n\r\n"))
		if end < 0 {
			return append(out, b...)
		}
		head := b[:end+4]
		out = append(out, withoutCoding(head)...)
		b = b[end+4:]
		if !bytes.HasPrefix(head, []byte("HTTP/1.1 1")) || bytes.HasPrefix(head, []byte("HTTP/1.1 101")) {
			c.inHead.Store(false)
			return append(out, b...)
		}
		if !bytes.Contains(b, []byte("\r\n\r\n")) {
			c.buf = append(c.buf, b...)
			return out
		}
	}
}

// withoutCoding is a head without lines of Transfer-Encoding that net/http does not understand, but for those that end in
// chunked: what these mean cannot be told without decoding it.
func withoutCoding(head []byte) []byte {
	const name = "transfer-encoding:"
	lines := bytes.SplitAfter(head, []byte("\r\n"))
	out := make([]byte, 0, len(head))
	for _, line := range lines {
		if len(line) > len(name) && bytes.EqualFold(line[:len(name)], []byte(name)) &&
			!bytes.HasSuffix(bytes.ToLower(bytes.TrimSpace(line)), []byte("chunked")) {
			continue
		}
		out = append(out, line...)
	}
	return out
}
