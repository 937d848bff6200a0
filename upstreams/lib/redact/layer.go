package redact

import (
	"encoding/hex"
	"html"
	"strings"
	"unicode/utf8"
)

// layer is a text from which layers of escaping were removed, with the
// offset of each byte in the original.
type layer struct {
	text    string
	offsets []int // of each byte and of the end; nil means that nothing was removed
}

func (l *layer) offset(i int) int {
	if l.offsets == nil {
		return i
	}
	return l.offsets[i]
}

// unescape removes one layer of percent-encoding, of the escapes of JSON, Go and JavaScript, and of the character references of HTML. It
// reports whether there was one.
func (l *layer) unescape() (layer, bool) {
	first := firstEscape(l.text)
	if first == len(l.text) {
		return *l, false
	}
	text, offsets := make([]byte, first, len(l.text)), make([]int, first, len(l.text)+1)
	copy(text, l.text)
	for i := range offsets {
		offsets[i] = l.offset(i)
	}
	for i := first; i < len(l.text); {
		var char [utf8.UTFMax]byte
		n, size := unescapeChar(l.text[i:], char[:])
		for _, c := range char[:n] {
			text, offsets = append(text, c), append(offsets, l.offset(i))
		}
		i += size
	}
	offsets = append(offsets, l.offset(len(l.text)))
	return layer{string(text), offsets}, true
}

// escapes are the characters with which escapes begin.
const escapes = `%\&`

// firstEscape returns the offset of the first escape, or the length of a text without one.
func firstEscape(text string) int {
	for i := 0; i < len(text); i++ {
		next := strings.IndexAny(text[i:], escapes)
		if next < 0 {
			break
		}
		i += next
		var char [utf8.UTFMax]byte
		if _, size := unescapeChar(text[i:], char[:]); size > 1 {
			return i
		}
	}
	return len(text)
}

// unescapeChar decodes the first character of s into char. It returns how many
// bytes it wrote, and how many of s it read.
func unescapeChar(s string, char []byte) (n, size int) {
	switch {
	case s[0] == '%' && len(s) >= 3:
		if _, err := hex.Decode(char, []byte(s[1:3])); err == nil {
			return 1, 3
		}
	case s[0] == '&':
		if n, size = unescapeReference(s, char); size > 0 {
			return n, size
		}
	case s[0] == '\\' && len(s) >= 2:
		if n, size = unescapeBackslash(s, char); size > 0 {
			return n, size
		}
	}
	char[0] = s[0]
	return 1, 1
}

// unescapeBackslash is unescapeChar for the escapes of JSON, Go and JavaScript; a size of 0 means that s begins with none.
func unescapeBackslash(s string, char []byte) (n, size int) {
	switch {
	case s[1] == 'u' && len(s) >= 6:
		var code [2]byte
		if _, err := hex.Decode(code[:], []byte(s[2:6])); err == nil {
			return utf8.EncodeRune(char, rune(code[0])<<8|rune(code[1])), 6
		}
	case s[1] == 'x' && len(s) >= 4:
		if _, err := hex.Decode(char, []byte(s[2:4])); err == nil {
			return 1, 4
		}
	default:
		if i := strings.IndexByte(`"'\/bfnrt`, s[1]); i >= 0 {
			char[0] = "\"'\\/\b\f\n\r\t"[i]
			return 1, 2
		}
	}
	return 0, 0
}

// longestReference is how long a character reference of HTML may be, without the semicolon: &DiacriticalGrave is the longest of ASCII.
const longestReference = 17

// unescapeReference is unescapeChar for the character references of HTML; a size of 0 means that s begins with none.
func unescapeReference(s string, char []byte) (n, size int) {
	size = halfEscape(s)
	if size == len(s) || s[size] != ';' {
		return 0, 0
	}
	plain := html.UnescapeString(s[:size+1])
	if len(plain) > min(size, len(char)) {
		return 0, 0
	}
	return copy(char, plain), size + 1
}

// halfEscape returns the length of what may be an escape without its end, at the beginning of a text. It may contain another escape.
func halfEscape(text string) int {
	if text == "" || strings.IndexByte(escapes, text[0]) < 0 {
		return 0
	}
	size := 1
	for size < min(len(text), longestReference) && (isAlphanumeric(text[size]) || strings.IndexByte("#"+escapes, text[size]) >= 0) {
		size++
	}
	return size
}
