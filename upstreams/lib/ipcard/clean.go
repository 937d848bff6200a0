package ipcard

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxText is how many bytes of a text are read. The longest line has fewer than
// 200 characters.
const maxText = 512

// clean makes an untrusted text plain: valid UTF-8, composed (NFC), with single
// spaces and visible characters only. That excludes control characters, direction
// marks, and all that XML 1.0 does not allow.
func clean(s string) string {
	s = norm.NFC.String(strings.ToValidUTF8(truncate(s, maxText), ""))
	s = strings.Join(strings.Fields(s), " ")
	s = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

// truncate cuts a text to n bytes, possibly within a character.
func truncate(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}

// legible cleans a text and replaces characters that the fonts lack: a character
// by its plain form (ł by l), else a run of letters by one "?". Symbols, such as
// emoji, are dropped. If only "?" would remain the result is empty.
func (p *renderer) legible(s string) string {
	var b strings.Builder
	known, unknown := false, false
	for _, r := range clean(s) {
		plain := p.plain(r)
		switch {
		case plain != "":
			b.WriteString(plain)
			known, unknown = known || unicode.IsLetter(r) || unicode.IsDigit(r), false
		case unicode.IsLetter(r) && !unknown:
			b.WriteByte('?')
			unknown = true
		}
	}
	if !known {
		return ""
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// plain is the nearest form of a character that the fonts have, or empty.
func (p *renderer) plain(r rune) string {
	if p.has(r) {
		return string(r)
	}
	// Letters with a bar have no decomposition in Unicode.
	for _, l := range [...]struct{ from, to rune }{{'ł', 'l'}, {'Ł', 'L'}, {'đ', 'd'}, {'Đ', 'D'}, {'ı', 'i'}, {'ħ', 'h'}, {'Ħ', 'H'}} {
		if r == l.from {
			return string(l.to)
		}
	}
	return strings.Map(func(r rune) rune {
		if p.has(r) {
			return r
		}
		return -1
	}, norm.NFKD.String(string(r)))
}
