package catalog

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// unescaped decodes percent-encoding; a malformed text stays as it is.
func unescaped(s string) string {
	if !strings.ContainsAny(s, "%+") {
		return s
	}
	if v, err := url.QueryUnescape(s); err == nil {
		return v
	}
	return s
}

// textOf returns the text of a raw value, which decode would return.
func textOf(raw string) string { return trimmed(unescaped(raw)) }

// decode returns the text of a raw value, without the white space around it. The error
// means wrong percent-encoding.
func (p *Param) decode(raw string) (string, error) {
	if !strings.ContainsAny(raw, "%+") {
		return trimmed(raw), nil
	}
	if p.Type == "url" {
		raw = keepPluses(raw)
	}
	value, err := url.QueryUnescape(raw)
	return trimmed(value), err
}

// keepPluses escapes the plus signs of a link that was not encoded: those before letters
// and digits and, in its query, before any ASCII. Others stand for the spaces around it.
func keepPluses(raw string) string {
	start := strings.Index(raw, "://")
	if start < 0 || !strings.Contains(raw, "+") {
		return raw
	}
	out, inQuery := []byte(raw[:start]), false
	for i := start; i < len(raw); i++ {
		inQuery = inQuery || raw[i] == '?'
		if raw[i] == '+' && i+1 < len(raw) && (isLetterOrDigit(raw[i+1]) || inQuery && raw[i+1] <= unicode.MaxASCII) {
			out = append(out, "%2B"...)
			continue
		}
		out = append(out, raw[i])
	}
	return string(out)
}

func isLetterOrDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// invisible are the characters without a width that pasted texts often begin or end with.
var invisible = []rune{'\u200b', '\u200e', '\u200f', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2060', '\ufeff'}

// trimmed returns a text without white space around it. The separators U+2028 and U+2029,
// which end lines in scripts only, are left to the checks of the parameter.
func trimmed(s string) string {
	return strings.TrimFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) && !unicode.In(r, unicode.Zl, unicode.Zp) || r > unicode.MaxASCII && slices.Contains(invisible, r)
	})
}
