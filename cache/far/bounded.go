package far

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"syscall"
)

// maxValue is the size in bytes of the largest text that is read from Redis. Entries that instances write have 32 MiB at most.
const maxValue = 33 << 20

// maxLine is the size in bytes of the longest line that is read. Only errors, numbers and statuses are lines.
const maxLine = 64 << 10

const (
	// maxDepth is how deep lists are in lists. The reply to COMMAND, which go-redis reads from a Cluster, is eight deep.
	maxDepth = 10
	// maxElements is the number of elements of the longest list: CLUSTER SLOTS returns one for each range of the 16384 slots.
	maxElements = 16 << 10
	// maxReply is the size in bytes of the largest reply: a value with its failure, or the slots of a Cluster, each with several nodes.
	maxReply = 2 * maxValue
	// elementBytes is what an element adds to the size of a reply: the memory that go-redis takes for it, at most, before it comes.
	elementBytes = 64
)

// errTooLarge means that a reply is beyond one of the limits above.
var errTooLarge = errors.New("redis: a reply that is too large")

// boundedConn is a connection to Redis that fails with errTooLarge before go-redis allocates memory, or recurses, for a reply that
// is larger than any to an instance. It follows the lines, texts and lists of RESP in what is read.
type boundedConn struct {
	net.Conn
	text int    // bytes of a text, and of the end of its line, that are still to come
	line []byte // the beginning of a line that has not ended
	over bool   // something too large came

	size  int           // of the reply, so far
	left  [maxDepth]int // elements that are still to come of each list that has not ended, the outermost first
	depth int           // lists that have not ended
}

// Read implements net.Conn. It fails again after errTooLarge: go-redis does not give up a connection at each error.
func (c *boundedConn) Read(b []byte) (int, error) {
	if c.over {
		return 0, errTooLarge
	}
	n, err := c.Conn.Read(b)
	if c.over = !c.follow(b[:n]); c.over {
		return 0, errTooLarge
	}
	return n, err
}

// follow reports whether what was read announces nothing that is too large.
func (c *boundedConn) follow(b []byte) bool {
	for len(b) > 0 {
		if c.text > 0 {
			n := min(c.text, len(b))
			c.text, b = c.text-n, b[n:]
			continue
		}
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			c.line = append(c.line, b...)
			return len(c.line) <= maxLine
		}
		line := b[:end]
		if len(c.line) > 0 {
			c.line = append(c.line, line...)
			line = c.line
			c.line = c.line[:0]
		}
		if len(line) > maxLine || !c.begin(line) {
			return false
		}
		b = b[end+1:]
	}
	return true
}

// begin follows a line.
func (c *boundedConn) begin(line []byte) bool {
	const texts, lists = "$!=", "*%~>|"
	if c.depth == 0 {
		c.size = 0
	}
	c.size += len(line)
	if len(line) >= 2 && strings.IndexByte(texts+lists, line[0]) >= 0 {
		n, err := strconv.Atoi(string(bytes.TrimSuffix(line[1:], []byte("\r"))))
		if err != nil || n < -1 || n > maxValue {
			return false
		}
		if strings.IndexByte(lists, line[0]) >= 0 {
			return c.beginList(line[0], n)
		}
		if n >= 0 {
			c.size += n
			c.text = n + len("\r\n")
		}
	}
	c.end()
	return c.size <= maxReply
}

// beginList follows the line before the elements of a list. To an attribute belongs the value behind it.
func (c *boundedConn) beginList(kind byte, n int) bool {
	n = max(n, 0) // -1 means nil
	if kind == '%' || kind == '|' {
		n *= 2
	}
	c.size += n * elementBytes
	if n > maxElements || c.size > maxReply {
		return false
	}
	if kind == '|' {
		n++
	}
	if n == 0 {
		c.end()
		return true
	}
	if c.depth == maxDepth {
		return false
	}
	c.left[c.depth] = n
	c.depth++
	return true
}

// end follows the end of a value, which may be that of the lists around it.
func (c *boundedConn) end() {
	for c.depth > 0 {
		c.left[c.depth-1]--
		if c.left[c.depth-1] > 0 {
			return
		}
		c.depth--
	}
}

// boundedSocket is a boundedConn of which go-redis can see whether it is still open.
type boundedSocket struct {
	*boundedConn
	syscall.Conn
}

// bounded returns a dialer of bounded connections.
func bounded(dial dialer) dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		b := &boundedConn{Conn: conn}
		if socket, ok := conn.(syscall.Conn); ok {
			return boundedSocket{b, socket}, nil
		}
		return b, nil
	}
}
