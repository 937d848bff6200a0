package redact

import (
	"regexp"
	"strings"
)

// malformedLine begins the text of net/textproto about a line of a header; the line follows.
const malformedLine = "malformed MIME header"

// quotes finds texts in quotation marks, of which the last may be missing.
var quotes = regexp.MustCompile(`"(?:[^"\\]|\\(?s:.))*(?:"|\\?$)`)

// WithoutQuotes returns an error about a message of an origin without what it quotes of that. An origin may echo what a
// client has sent, such as its cookies. errors.Is and errors.As find the same as in err.
func WithoutQuotes(err error) error {
	if err == nil {
		return nil
	}
	text := unquoted(err.Error())
	if text == err.Error() {
		return err
	}
	return &redactedError{text, err}
}

// longestQuoted is how many bytes of an error are read: a field may have 60 kB.
const longestQuoted = 1 << 10

func unquoted(text string) string {
	text = Truncate(text, longestQuoted)
	if before, _, ok := strings.Cut(text, malformedLine); ok {
		text = before + malformedLine
	}
	return quotes.ReplaceAllString(text, `"…"`)
}
