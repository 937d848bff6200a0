package express

import (
	"bytes"
	"net"
	"strconv"
)

// framing follows the requests on a connection that net/http reads, and makes it refuse those whose end is not certain (RFC 9112,
// sections 6.1 and 6.3). net/http itself drops a length beside chunks, reads a folded coding, ignores chunks in HTTP/1.0, and says of
// codings which it does not know that they are not implemented.
type framing struct {
	part part
	line []byte // of the current line, what fits
	left uint64 // how many bytes of the body or of the chunk follow

	old, chunked bool
	length       string // the value of Content-Length; "": there is none
	latest       bool   // the latest field is one of these
}

// part is a part of a request.
type part int

const (
	requestLine part = iota
	field
	content
	chunkSize
	chunkData
	chunkEnd
	trailer
	unfollowed // behind a request that net/http refuses, or another protocol
)

// maxLine is how much of a line is kept. A line of the framing that is longer is refused.
const maxLine = 128

// follow follows bytes that net/http gets next. It spoils those of a request that is to be refused.
func (f *framing) follow(b []byte) {
	for i := 0; i < len(b); i++ {
		switch {
		case f.part == unfollowed:
			return
		case f.left > 0:
			n := min(f.left, uint64(len(b)-i))
			f.left -= n
			i += int(n) - 1 //nolint:gosec // n is less than the length of b
			if f.left == 0 {
				f.endData()
			}
		case b[i] != '\n':
			f.add(b[i])
		case f.endLine(bytes.TrimSuffix(f.line, []byte("\r"))):
			f.line = f.line[:0]
		default:
			f.refuse(b, i)
		}
	}
}

// refuse makes net/http refuse a request at the end of a line. It refuses malformed chunks itself.
func (f *framing) refuse(b []byte, end int) {
	if f.part == field {
		b[max(end-1, 0)] = 0 // of the line, which net/http reads to its end
	}
	f.part = unfollowed
}

// add adds a byte to the line. Of a request line, the end counts.
func (f *framing) add(c byte) {
	if len(f.line) == maxLine && f.part == requestLine {
		f.line = f.line[:copy(f.line, f.line[maxLine/2:])]
	}
	if len(f.line) < maxLine {
		f.line = append(f.line, c)
	}
}

func (f *framing) endData() {
	if f.part == content {
		f.part = requestLine
	} else {
		f.part = chunkEnd
	}
}

// endLine follows the end of a line, and reports whether net/http may read it.
func (f *framing) endLine(line []byte) bool {
	switch f.part {
	case requestLine:
		if len(line) > 0 {
			*f = framing{part: field, line: f.line, old: bytes.HasSuffix(line, []byte(" HTTP/1.0"))}
		}
	case field:
		if len(line) > 0 {
			return f.field(line)
		}
		return f.endHead()
	case chunkSize:
		return f.chunk(line)
	case chunkEnd:
		if len(line) > 0 {
			return false
		}
		f.part = chunkSize
	case trailer:
		if len(line) == 0 {
			f.part = requestLine
		}
	}
	return true
}

// field follows a field.
func (f *framing) field(line []byte) bool {
	if line[0] == ' ' || line[0] == '\t' {
		return !f.latest
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	length, coding := bytes.EqualFold(name, []byte("Content-Length")), bytes.EqualFold(name, []byte("Transfer-Encoding"))
	f.latest = length || coding
	if !f.latest {
		return true
	}
	text := string(bytes.Trim(value, " \t"))
	if length {
		same := f.length == "" || f.length == text
		f.length = text
		return same && text != "" && !f.chunked && len(line) < maxLine
	}
	again := f.chunked
	f.chunked = true
	return !again && f.length == "" && !f.old && bytes.EqualFold([]byte(text), []byte("chunked"))
}

// endHead follows the end of a header.
func (f *framing) endHead() bool {
	if f.chunked {
		f.part = chunkSize
		return true
	}
	if f.length != "" {
		var err error
		if f.left, err = strconv.ParseUint(f.length, 10, 63); err != nil {
			return false
		}
	}
	f.part = content
	if f.left == 0 {
		f.part = requestLine
	}
	return true
}

// chunk follows the line before a chunk.
func (f *framing) chunk(line []byte) bool {
	size, _, _ := bytes.Cut(line, []byte(";"))
	n, err := strconv.ParseUint(string(bytes.TrimRight(size, " \t")), 16, 64)
	if err != nil {
		return false
	}
	f.part, f.left = chunkData, n
	if n == 0 {
		f.part = trailer
	}
	return true
}

// followed is a connection whose requests are followed, where the lane answers none.
type followed struct {
	net.Conn
	framing framing
}

// Read implements net.Conn.
func (c *followed) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.framing.follow(b[:n])
	return n, err
}
