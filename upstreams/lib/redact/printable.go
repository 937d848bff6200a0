package redact

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns a text in which nothing controls a terminal: control characters, of which C0, DEL, C1 and the escape
// sequences that begin with them are made, and bidirectional controls become \u and four digits, which in
// JSON is the same character, and bytes that are not UTF-8 become U+FFFD. Line feeds and tabs stay.
func Printable(s string) string {
	if isPrintable(s) {
		return s
	}
	var b strings.Builder
	for _, r := range strings.ReplaceAll(s, "\r\n", "\n") {
		if controls(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isPrintable(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf {
			return utf8.ValidString(s[i:]) && !strings.ContainsFunc(s[i:], controls)
		} else if controls(rune(c)) {
			return false
		}
	}
	return true
}

// controls reports whether a terminal may act on a character instead of showing it.
func controls(r rune) bool {
	switch r {
	case '\n', '\t':
		return false
	case '\u2028', '\u2029': // separators of lines and of paragraphs
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}
