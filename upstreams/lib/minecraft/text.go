package minecraft

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"

	"sundry/upstreams/lib/pixels"
)

// Bounds of a server's texts and icon, beyond which they are cut or dropped.
const (
	maxSample  = 50
	maxName    = 64
	maxMods    = 1000
	maxMOTD    = 2 << 10
	maxRaw     = maxChat // with § codes, of which each letter may have seven
	maxVersion = 128
	maxIcon    = 64 << 10
)

// line is clean for texts of one line: names and versions.
func line(s string, most int) string {
	return clean(strings.ReplaceAll(s, "\n", " "), most)
}

// clean drops § codes and characters that are not printable.
func clean(s string, most int) string {
	var b strings.Builder
	code := false
	for _, r := range s {
		switch {
		case code:
			code = false
		case r == '§':
			code = true
		default:
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(printable(b.String(), most))
}

// printable drops control characters other than the line feed, other line
// separators and direction marks, and cuts at a number of bytes.
func printable(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r != '\n' && unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return -1
		}
		return r
	}, s)
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// icon returns a whole PNG's data URI of at most maxIcon, else ""; some servers send line
// breaks in it.
func icon(uri string) string {
	const prefix = "data:image/png;base64,"
	encoded, ok := strings.CutPrefix(strings.NewReplacer("\n", "", "\r", "").Replace(uri), prefix)
	if !ok || len(encoded) > maxIcon {
		return ""
	}
	b, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || !strings.HasPrefix(string(b), "\x89PNG\r\n\x1a\n") || pixels.Whole("image/png", b) != nil {
		return ""
	}
	return prefix + encoded
}
