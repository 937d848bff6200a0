package redact

import (
	"encoding/hex"
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

// unescape removes one layer of percent-encoding and of the escapes of JSON and Go. It reports
// whether there was one.
func (l *layer) unescape() (layer, bool) {
	if !strings.ContainsAny(l.text, `%\`) {
		return *l, false
	}
	text, offsets := make([]byte, 0, len(l.text)), make([]int, 0, len(l.text)+1)
	for i := 0; i < len(l.text); {
		var char [utf8.UTFMax]byte
		n, size := unescapeChar(l.text[i:], char[:])
		for _, c := range char[:n] {
			text, offsets = append(text, c), append(offsets, l.offset(i))
		}
		i += size
	}
	offsets = append(offsets, l.offset(len(l.text)))
	return layer{string(text), offsets}, len(text) < len(l.text)
}

// unescapeChar decodes the first character of s into char. It returns how many
// bytes it wrote, and how many of s it read.
func unescapeChar(s string, char []byte) (n, size int) {
	switch {
	case s[0] == '%' && len(s) >= 3:
		if _, err := hex.Decode(char, []byte(s[1:3])); err == nil {
			return 1, 3
		}
	case s[0] == '\\' && len(s) >= 6 && s[1] == 'u':
		var code [2]byte
		if _, err := hex.Decode(code[:], []byte(s[2:6])); err == nil {
			return utf8.EncodeRune(char, rune(code[0])<<8|rune(code[1])), 6
		}
	case s[0] == '\\' && len(s) >= 4 && s[1] == 'x':
		if _, err := hex.Decode(char, []byte(s[2:4])); err == nil {
			return 1, 4
		}
	case s[0] == '\\' && len(s) >= 2:
		if i := strings.IndexByte(`"\/bfnrt`, s[1]); i >= 0 {
			char[0] = "\"\\/\b\f\n\r\t"[i]
			return 1, 2
		}
	}
	char[0] = s[0]
	return 1, 1
}
