package proxy

import (
	"math/bits"
	"net/http"
	"strings"
)

// headerField is a header field that an answer from the cache can have. They are in the order
// in which net/http writes them, which is that of their names.
type headerField uint8

const (
	fieldAllowOrigin headerField = iota
	fieldAge
	fieldCacheControl
	fieldCacheStatus
	fieldContentEncoding
	fieldContentLength
	fieldContentSecurityPolicy
	fieldContentType
	fieldETag
	fieldLocation
	fieldRateLimit
	fieldRateLimitPolicy
	fieldReferrerPolicy
	fieldSource
	fieldVary
	fieldContentTypeOptions
	fieldRequestID
	fields
)

// line is the field's name as it stands in front of its value.
func (f headerField) line() string {
	return [fields]string{
		"Access-Control-Allow-Origin: ", "Age: ", "Cache-Control: ", "Cache-Status: ", "Content-Encoding: ",
		"Content-Length: ", "Content-Security-Policy: ", "Content-Type: ", "Etag: ", "Location: ", "Ratelimit: ",
		"Ratelimit-Policy: ", "Referrer-Policy: ", "Sundry-Source: ", "Vary: ", "X-Content-Type-Options: ", "X-Request-Id: ",
	}[f]
}

// name is the field's name in its canonical form.
func (f headerField) name() string {
	line := f.line()
	return line[:len(line)-len(": ")]
}

// head is the header of an answer, apart from who writes it: net/http, or a writer of
// raw bytes. It is filled without an allocation.
// What differs from answer to answer is written into one text, so that net/http's
// strings are cut from a single one.
type head struct {
	set    uint32 // bit by field
	values [fields]headValue
	used   uint16 // bytes of text
	text   [384]byte
}

// reset takes all fields out.
func (h *head) reset() { h.set, h.used = 0, 0 }

// headValue is a string, or a part of the head's text.
type headValue struct {
	fixed    string
	from, to uint16 // equal: fixed
}

// put sets a field to a string.
func (h *head) put(f headerField, value string) {
	h.set |= 1 << f
	h.values[f] = headValue{fixed: value}
}

// begin returns the free end of the text, to which the value of one field is appended.
func (h *head) begin() []byte { return h.text[h.used:h.used] }

// end sets a field to what was appended to begin's. What did not fit, which no
// value of this package does, has become a copy.
func (h *head) end(f headerField, value []byte) {
	if len(value) == 0 || len(value) > len(h.text)-int(h.used) {
		h.put(f, string(value))
		return
	}
	from := h.used
	h.used += uint16(len(value))
	h.set |= 1 << f
	h.values[f] = headValue{from: from, to: h.used}
}

// drop takes a field out.
func (h *head) drop(f headerField) { h.set &^= 1 << f }

// setOn sets the fields as net/http wants them. It assigns slices of one array under
// canonical names: Header.Set would canonicalise each name and allocate a slice for
// each value.
func (h *head) setOn(header http.Header) {
	text := string(h.text[:h.used])
	values := make([]string, 0, bits.OnesCount32(h.set))
	for set := h.set; set != 0; set &= set - 1 {
		f := headerField(bits.TrailingZeros32(set))
		value := &h.values[f]
		if value.from == value.to {
			values = append(values, value.fixed)
		} else {
			values = append(values, text[value.from:value.to])
		}
		header[f.name()] = values[len(values)-1 : len(values) : len(values)]
	}
}

// appendTo writes the lines of the fields, byte for byte as net/http does.
func (h *head) appendTo(b []byte) []byte {
	for set := h.set; set != 0; set &= set - 1 {
		f := headerField(bits.TrailingZeros32(set))
		value := &h.values[f]
		b = append(b, f.line()...)
		if value.from == value.to {
			b = appendFieldValue(b, value.fixed)
		} else {
			b = append(b, h.text[value.from:value.to]...)
		}
		b = append(b, "\r\n"...)
	}
	return b
}

// appendFieldValue writes a value that may have come from elsewhere: it cannot end its line,
// nor begin or end with space.
func appendFieldValue(b []byte, value string) []byte {
	start := len(b)
	b = append(b, strings.Trim(value, " \t\r\n")...)
	for i, c := range b[start:] {
		if c == '\r' || c == '\n' {
			b[start+i] = ' '
		}
	}
	return b
}
