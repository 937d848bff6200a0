package plainjson

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Decode decodes one JSON value as encoding/json does, with numbers as json.Number,
// at half of the cost (BenchmarkDecode). ok is false for a text that is not exactly one value, is not
// UTF-8 or is nested more deeply than depth: encoding/json says what is wrong with it.
//
// The strings of the value share one copy of the text: do not keep a few of them for
// long.
func Decode(b []byte, depth int) (v any, ok bool) {
	v, rest, ok := decodeFirst(b, depth)
	return v, ok && rest == ""
}

// DecodeFirst is Decode for a text that goes on after the value.
func DecodeFirst(b []byte, depth int) (v any, ok bool) {
	v, _, ok = decodeFirst(b, depth)
	return v, ok
}

func decodeFirst(b []byte, depth int) (v any, rest string, ok bool) {
	if !utf8.Valid(b) {
		return nil, "", false
	}
	var values [24]any
	var names [16]string
	d := decoder{text: string(b), values: values[:0], names: names[:0]}
	d.space()
	if !d.value(depth) {
		return nil, "", false
	}
	d.space()
	return d.values[0], d.text[d.at:], true
}

// decoder decodes a text that is UTF-8. Values that are decoded and not part of another
// one yet are on a stack, so that each map and array is made in its size.
type decoder struct {
	text   string
	at     int
	values []any
	names  []string // of the fields among them
}

func (d *decoder) space() {
	for d.at < len(d.text) && (d.text[d.at] == ' ' || d.text[d.at] == '\n' || d.text[d.at] == '\t' || d.text[d.at] == '\r') {
		d.at++
	}
}

// next reports whether the next byte is c, and skips it and what space follows.
func (d *decoder) next(c byte) bool {
	if d.at >= len(d.text) || d.text[d.at] != c {
		return false
	}
	d.at++
	d.space()
	return true
}

// value pushes the value that begins here.
func (d *decoder) value(depth int) bool {
	if d.at >= len(d.text) {
		return false
	}
	switch c := d.text[d.at]; {
	case c == '"':
		s, ok := d.str()
		d.values = append(d.values, s)
		return ok
	case c == '{':
		return depth > 0 && d.object(depth-1)
	case c == '[':
		return depth > 0 && d.array(depth-1)
	case c == '-' || '0' <= c && c <= '9':
		return d.number()
	case c == 't':
		return d.literal("true", true)
	case c == 'f':
		return d.literal("false", false)
	case c == 'n':
		return d.literal("null", nil)
	}
	return false
}

func (d *decoder) literal(text string, v any) bool {
	if !strings.HasPrefix(d.text[d.at:], text) {
		return false
	}
	d.at += len(text)
	d.values = append(d.values, v)
	return true
}

func (d *decoder) array(depth int) bool {
	from := len(d.values)
	d.next('[')
	for more := !d.skip(']'); more; {
		if !d.value(depth) {
			return false
		}
		d.space()
		if more = d.next(','); !more && !d.skip(']') {
			return false
		}
	}
	list := make([]any, len(d.values)-from)
	copy(list, d.values[from:])
	d.values = append(d.values[:from], list)
	return true
}

// skip reports whether the next byte is c, and skips it.
func (d *decoder) skip(c byte) bool {
	if d.at >= len(d.text) || d.text[d.at] != c {
		return false
	}
	d.at++
	return true
}

func (d *decoder) object(depth int) bool {
	from, fromName := len(d.values), len(d.names)
	d.next('{')
	for more := !d.skip('}'); more; {
		if !d.field(depth) {
			return false
		}
		if more = d.next(','); !more && !d.skip('}') {
			return false
		}
	}
	object := make(map[string]any, len(d.values)-from)
	for i, name := range d.names[fromName:] {
		object[name] = d.values[from+i]
	}
	d.names = d.names[:fromName]
	d.values = append(d.values[:from], object)
	return true
}

// field pushes the name and the value of a field, and skips the space behind it.
func (d *decoder) field(depth int) bool {
	if d.at >= len(d.text) || d.text[d.at] != '"' {
		return false
	}
	name, ok := d.str()
	if !ok {
		return false
	}
	d.space()
	d.names = append(d.names, name)
	if !d.next(':') || !d.value(depth) {
		return false
	}
	d.space()
	return true
}

// number pushes a number.
func (d *decoder) number() bool {
	from := d.at
	if !d.skipNumber() {
		return false
	}
	d.values = append(d.values, json.Number(d.text[from:d.at]))
	return true
}

// isNumber reports whether a text is a number and nothing else.
func isNumber(s string) bool {
	d := decoder{text: s}
	return d.skipNumber() && d.at == len(s)
}

// skipNumber skips a number, by the grammar of RFC 8259.
func (d *decoder) skipNumber() bool {
	d.skip('-')
	if !d.skip('0') && !d.digits() {
		return false
	}
	if d.skip('.') && !d.digits() {
		return false
	}
	if d.skip('e') || d.skip('E') {
		if !d.skip('-') {
			d.skip('+')
		}
		if !d.digits() {
			return false
		}
	}
	return true
}

// digits skips one or more.
func (d *decoder) digits() bool {
	from := d.at
	for d.at < len(d.text) && '0' <= d.text[d.at] && d.text[d.at] <= '9' {
		d.at++
	}
	return d.at > from
}

// str reads the string that begins here.
func (d *decoder) str() (s string, ok bool) {
	from := d.at + 1
	for i := from; i < len(d.text); i++ {
		switch c := d.text[i]; {
		case c == '"':
			d.at = i + 1
			return d.text[from:i], true
		case c == '\\':
			return d.escaped(from, i)
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

// escaped reads a string from its first byte, with the first escape at i.
func (d *decoder) escaped(from, i int) (s string, ok bool) {
	var b strings.Builder
	for i < len(d.text) {
		switch c := d.text[i]; {
		case c == '"':
			b.WriteString(d.text[from:i])
			d.at = i + 1
			return b.String(), true
		case c == '\\':
			b.WriteString(d.text[from:i])
			n := writeEscape(&b, d.text[i:])
			if n == 0 {
				return "", false
			}
			i += n
			from = i
		case c < ' ':
			return "", false
		default:
			i++
		}
	}
	return "", false
}

// writeEscape writes what an escape at the beginning of s stands for, and returns its
// length; 0 for what is none.
func writeEscape(b *strings.Builder, s string) int {
	if len(s) < 2 {
		return 0
	}
	if s[1] != 'u' {
		i := strings.IndexByte(`"\/bfnrt`, s[1])
		if i < 0 {
			return 0
		}
		b.WriteByte("\"\\/\b\f\n\r\t"[i])
		return 2
	}
	first := codeUnit(s)
	if first < 0 {
		return 0
	}
	if !utf16.IsSurrogate(first) {
		b.WriteRune(first)
		return 6
	}
	pair := utf16.DecodeRune(first, codeUnit(s[6:]))
	b.WriteRune(pair)
	if pair == utf8.RuneError {
		return 6 // a half of a pair alone
	}
	return 12
}

// codeUnit is that of \uXXXX at the beginning of s; -1 if there is none.
func codeUnit(s string) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(s[2:6], 16, 32)
	if err != nil {
		return -1
	}
	return rune(n)
}
