package express

import (
	"bytes"
	"crypto/tls"
	"net"
	"net/http"
	"strconv"
)

// framing follows the requests on a connection that net/http reads, and makes it refuse those whose end is not certain (RFC 9112,
// sections 6.1 and 6.3). net/http itself drops a length beside chunks, reads a folded coding, ignores chunks in HTTP/1.0, and says of
// codings which it does not know that they are not implemented. It does not follow chunks: Server closes the connection behind them.
type framing struct {
	part part
	line []byte // of the current line, what fits
	left uint64 // how many bytes of the body follow

	old     bool   // the request is of HTTP/1.0
	chunked bool   // it has chunks
	length  string // the value of Content-Length; "" means none
	latest  bool   // the latest field is one of these
}

// part is a part of a request.
type part int

const (
	requestLine part = iota
	field
	unfollowed // behind chunks, a request that net/http refuses, or a change of the protocol
)

// maxLine is how much of a line is kept. A longer line of the framing is refused.
const maxLine = 128

// follow follows bytes that net/http gets next. It spoils those of a request that is to be refused.
func (f *framing) follow(b []byte) {
	for i := 0; i < len(b) && f.part != unfollowed; i++ {
		switch {
		case f.left > 0:
			n := min(f.left, uint64(len(b)-i))
			f.left -= n
			i += int(n) - 1
		case b[i] != '\n':
			f.add(b[i])
		case f.endLine(bytes.TrimSuffix(f.line, []byte("\r"))):
			f.line = f.line[:0]
		default:
			b[max(i-1, 0)] = 0 // of the line, which net/http reads to its end
			f.part = unfollowed
		}
	}
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

// endLine follows the end of a line, and reports whether net/http may read it.
func (f *framing) endLine(line []byte) bool {
	switch {
	case f.part == field && len(line) > 0:
		return f.field(line)
	case f.part == field:
		f.endHead()
	case len(line) > 0:
		*f = framing{part: field, line: f.line, old: bytes.HasSuffix(line, []byte(" HTTP/1.0"))}
	}
	return true
}

// field follows a field, and reports whether net/http may read it.
func (f *framing) field(line []byte) bool {
	if line[0] == ' ' || line[0] == '\t' {
		return !f.latest
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	length, coding := bytes.EqualFold(name, []byte("Content-Length")), bytes.EqualFold(name, []byte("Transfer-Encoding"))
	f.latest = length || coding
	text := string(bytes.Trim(value, " \t"))
	switch {
	case length:
		same := f.length == "" || f.length == text
		f.length = text
		return same && text != "" && !f.chunked && len(line) < maxLine
	case coding:
		again := f.chunked
		f.chunked = true
		return !again && f.length == "" && !f.old && bytes.EqualFold([]byte(text), []byte("chunked"))
	}
	return true
}

// endHead follows the end of a header. net/http refuses a length that is no number.
func (f *framing) endHead() {
	f.part = requestLine
	var err error
	if f.length != "" {
		f.left, err = strconv.ParseUint(f.length, 10, 63)
	}
	if f.chunked || err != nil {
		f.part = unfollowed
	}
}

// Follow makes srv, which must not serve yet, ignore empty lines before the first request of a connection, and refuse the
// requests whose end is not certain, as the lane does.
func Follow(srv *http.Server, ln net.Listener) net.Listener {
	followStates(srv)
	return follower{ln}
}

// followStates tells the connections of srv their states, before what was set in srv.ConnState.
func followStates(srv *http.Server) {
	before := srv.ConnState
	srv.ConnState = func(nc net.Conn, state http.ConnState) {
		if c, ok := nc.(interface{ changeState(s http.ConnState) }); ok {
			c.changeState(state)
		}
		if before != nil {
			before(nc, state)
		}
	}
}

type follower struct{ net.Listener }

// Accept implements net.Listener.
func (l follower) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return follow(nc), nil
}

// follow returns a connection whose requests are followed, without empty lines before the first. A TLS
// connection is returned as it is if net/http has yet to make the handshake, or speaks HTTP/2 on it.
func follow(nc net.Conn) net.Conn {
	if secure := ofHTTP1(nc); secure != nil {
		return &securedFollowed{&followed{Conn: nc}, over{secure}}
	}
	if _, secure := nc.(*tls.Conn); secure {
		return nc
	}
	return &followed{Conn: nc}
}

// followed is a connection whose requests are followed, and on which the lane answers none.
type followed struct {
	net.Conn
	framing framing
	empty   emptyLines
	begun   bool // the first request has begun
}

// changeState follows the state that net/http has for the connection.
func (c *followed) changeState(s http.ConnState) {
	if s == http.StateHijacked {
		c.framing.part = unfollowed
	}
}

// Read implements net.Conn.
func (c *followed) Read(b []byte) (n int, err error) {
	if c.begun {
		n, err = c.Conn.Read(b)
	} else {
		n, err = c.begin(b)
	}
	c.framing.follow(b[:n])
	return n, err
}

// begin reads the beginning of the first request.
func (c *followed) begin(b []byte) (n int, err error) {
	for !c.begun && err == nil && n < len(b) {
		var more int
		more, err = c.Conn.Read(b[n:])
		n = copy(b, c.empty.skip(b[:n+more]))
		c.begun = !c.empty.expects(b[:n])
	}
	c.begun = true
	return n, err
}

// CloseWrite tells the client that nothing more is written. net/http does that before
// it closes a connection whose client may still be sending.
func (c *followed) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}
