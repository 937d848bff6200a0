package express

import (
	"strings"
	"unsafe"

	"sundry/proxy/uri"
)

// verdict says what stands at the beginning of a buffer.
type verdict int

const (
	plain      verdict = iota // a head that the lane may answer
	framed                    // a head for net/http, of a request that certainly has no body
	incomplete                // the beginning of a head, or nothing
	odd                       // anything else
)

// head reads heads of requests, in one pass and without an allocation.
type head struct {
	fields  *fieldTable
	request Request
	buf     []byte
	size    int  // how much of buf has been read; in the end, the size of the head
	lines   int  // of fields
	passed  bool // net/http has to answer the request
}

// parse reads the head at the beginning of b. Whatever is not certain to be read by
// net/http in the same way is odd.
func (h *head) parse(b []byte) verdict {
	h.buf, h.size, h.lines, h.passed = b, 0, 0, false
	clear(h.request.values)
	h.request.seen, h.request.Host = 0, ""
	v := h.requestLine()
	for v == plain {
		if h.size == len(b) {
			return incomplete
		}
		if b[h.size] == '\r' {
			return h.end()
		}
		v = h.field()
	}
	return v
}

// end reads the empty line behind the fields.
func (h *head) end() verdict {
	switch v := h.expect("\r\n"); {
	case v != plain:
		return v
	case h.request.Host == "":
		return odd
	case h.passed:
		return framed
	default:
		return plain
	}
}

// expect reads what must stand next.
func (h *head) expect(text string) verdict {
	rest := h.buf[h.size:]
	if len(rest) < len(text) {
		if strings.HasPrefix(text, string(rest)) {
			return incomplete
		}
		return odd
	}
	if string(rest[:len(text)]) != text {
		return odd
	}
	h.size += len(text)
	return plain
}

func (h *head) requestLine() verdict {
	if v := h.method(); v != plain {
		return v
	}
	if v := h.target(); v != plain {
		return v
	}
	return h.expect(" HTTP/1.1\r\n")
}

// method reads the method and the space behind it. A preflight has no body either.
func (h *head) method() verdict {
	if len(h.buf) == 0 {
		return incomplete
	}
	switch h.buf[0] {
	case 'G':
		h.request.Head = false
		return h.expect("GET ")
	case 'H':
		h.request.Head = true
		return h.expect("HEAD ")
	case 'O':
		h.passed = true
		return h.expect("OPTIONS ")
	default:
		return odd
	}
}

func (h *head) target() verdict {
	start, query, i := h.size, 0, h.size
	for ; i < len(h.buf) && octets[h.buf[i]]&inTarget != 0; i++ {
		if h.buf[i] == '?' && query == 0 {
			query = i
		}
	}
	if i > start && h.buf[start] != '/' || i == start && i < len(h.buf) {
		return odd
	}
	h.size = i
	q := &h.request
	q.Target, q.Query = view(h.buf[start:i]), ""
	q.Path = q.Target
	if query != 0 {
		q.Path, q.Query = view(h.buf[start:query]), view(h.buf[query+1:i])
	}
	if strings.IndexByte(q.Path, '%') >= 0 || strings.Contains(q.Path, "//") {
		h.passed = true
	}
	return plain
}

// field reads a field with the end of its line.
func (h *head) field() verdict {
	b, i := h.buf, h.size
	for i < len(b) && octets[b[i]]&inName != 0 {
		i++
	}
	if i == len(b) {
		return incomplete
	}
	name := b[h.size:i]
	if len(name) == 0 || b[i] != ':' {
		return odd
	}
	for i++; i < len(b) && b[i] == ' '; {
		i++
	}
	start := i
	for i < len(b) && octets[b[i]]&inValue != 0 {
		i++
	}
	value := b[start:i]
	h.size = i
	if v := h.expect("\r\n"); v != plain {
		return v
	}
	return h.heed(name, value)
}

// heed keeps a field that the request is to have, and rules what another one means
// for the request.
func (h *head) heed(name, value []byte) verdict {
	if h.lines++; h.lines > MaxFields {
		h.passed = true
	}
	kind := h.fields.kind(name)
	if kind == unknownField {
		return plain
	}
	for len(value) > 0 && value[len(value)-1] == ' ' {
		value = value[:len(value)-1]
	}
	switch kind {
	case hostField:
		return h.host(value)
	case connectionField:
		return h.connection(value)
	case passedField:
		h.passed = true
		return plain
	case framingField:
		return odd
	}
	if bit := uint64(1) << kind; h.request.seen&bit == 0 {
		h.request.seen |= bit
		h.request.values[kind] = view(value)
	} else {
		h.passed = true // which of them counts, net/http knows
	}
	return plain
}

func (h *head) host(value []byte) verdict {
	if h.request.Host != "" || !uri.ValidHost(view(value)) {
		return odd
	}
	h.request.Host = view(value)
	return plain
}

func (h *head) connection(value []byte) verdict {
	switch {
	case equalsLower(value, "keep-alive"):
		return plain
	case equalsLower(value, "close"):
		h.passed = true
		return plain
	default:
		return odd
	}
}

// view returns b as a string without a copy.
func view(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // Request says how long it is valid
}
