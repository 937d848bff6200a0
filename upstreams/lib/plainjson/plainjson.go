// Package plainjson encodes JSON as people read it: <, > and & stand as they
// are, though encoding/json escapes them for use inside HTML. Nothing of it
// may be put into a page unescaped. It decodes JSON to the same values as
// encoding/json, faster.
package plainjson

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// NewEncoder is an encoder that ends each value with a line feed, as those of
// encoding/json do.
func NewEncoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// Marshal encodes a value on one line, without a line feed.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := NewEncoder(&b).Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// MarshalIndent encodes a value for people to read and compare: indented by two
// spaces, and ended with a line feed, as a file is.
func MarshalIndent(v any) ([]byte, error) {
	var b bytes.Buffer
	e := NewEncoder(&b)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// Append appends a value as Marshal encodes it.
func Append(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		return AppendText(b, v), nil
	case int:
		return strconv.AppendInt(b, int64(v), 10), nil
	case json.Number:
		if isNumber(string(v)) {
			return append(b, v...), nil
		}
	}
	text, err := Marshal(v)
	return append(b, text...), err
}

// AppendText appends a string as Marshal encodes it.
func AppendText(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		return appendInvalid(b, s)
	}
	return appendQuoted(b, s, appendEscape)
}

// appendQuoted appends valid UTF-8 in quotes, with the escapes for quotes, backslashes
// and control characters, and with those of the line separators of JavaScript.
func appendQuoted(b []byte, s string, escape func(b []byte, c byte) []byte) []byte {
	b = append(b, '"')
	done := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c == '"' || c == '\\':
			b = escape(append(b, s[done:i]...), c)
			done = i + 1
		case c == 0xe2 && (s[i:i+3] == "\u2028" || s[i:i+3] == "\u2029"):
			b = append(append(b, s[done:i]...), '\\', 'u', '2', '0', '2', '8'+s[i+2]&1)
			done = i + 3
		}
	}
	return append(append(b, s[done:]...), '"')
}

// appendInvalid appends a string that is not UTF-8, with an escape for each byte that
// belongs to no character.
func appendInvalid(b []byte, s string) []byte {
	text, _ := Marshal(s) // no string fails
	return append(b, text...)
}

const hexDigits = "0123456789abcdef"

// appendEscape appends the escape of a quote, a backslash or a control character.
func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// AppendString appends a string, without an allocation of its own. It escapes
// what JSON or a script (U+2028 and U+2029) cannot hold, and replaces what is not
// UTF-8.
func AppendString(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	return appendQuoted(b, s, appendNumericEscape)
}

// appendNumericEscape appends the escape of a control character as a number, even if it
// has a short one.
func appendNumericEscape(b []byte, c byte) []byte {
	if c >= ' ' {
		return append(b, '\\', c)
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// Object is a JSON object whose members keep their order.
type Object []Member

// Member is a member of an Object.
type Member struct {
	Name  string
	Value any
}

// MarshalJSON implements json.Marshaler.
func (o Object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		value, err := Marshal(m.Value)
		if err != nil {
			return nil, err
		}
		b = append(append(AppendString(b, m.Name), ':'), value...)
	}
	return append(b, '}'), nil
}
