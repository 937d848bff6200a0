package sharelink

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"sundry/metrics/words"
)

// maxText is the longest text that is searched, and the longest Location that is
// accepted, in bytes.
const maxText = 8 << 10

// punctuation has the characters of RFC 3986 other than letters and digits, without
// brackets, which usually belong to the sentence around a link.
const punctuation = "._~:/?#@!$&'*+,;=%-"

// withScheme matches a link in a text; Chinese characters end it.
var withScheme = regexp.MustCompile(`(?i)https?://[A-Za-z0-9` + punctuation + `]+`)

// notURL reports whether a character ends a word that may be a link without its
// scheme.
func notURL(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune(punctuation, r)
}

// locate finds the link in a text, with its scheme. If there is none the text is
// decoded once more: some callers encode twice.
func locate(raw string) (string, error) {
	if len(raw) > maxText {
		return "", words.Because(fmt.Errorf("%w; the text is longer than %d bytes", ErrNoLink, maxText),
			"is longer than 8192 bytes", "超过 8192 字节")
	}
	if found := Find(raw, isOurs); found != "" {
		return found, nil
	}
	if decoded, err := url.QueryUnescape(raw); err == nil {
		if found := Find(decoded, isOurs); found != "" {
			return found, nil
		}
	}
	return "", ErrNoLink
}

// isOurs reports whether a link without its scheme is on a host of the table.
func isOurs(link string) bool {
	host, _, ok := strings.Cut(link, "/")
	return ok && IsHost(host)
}

// Find returns the first link in a text, with its scheme: one that has it, else a word
// that isKnown reports to be a link. It is "" without a link.
func Find(text string, isKnown func(word string) bool) string {
	if found := withScheme.FindString(text); found != "" {
		return trim(found)
	}
	for word := range strings.FieldsFuncSeq(text, notURL) {
		if isKnown(word) {
			return "https://" + trim(word)
		}
	}
	return ""
}

// trim drops the punctuation of the sentence around a link.
func trim(link string) string { return strings.TrimRight(link, ".,;:!?)]}'\"") }
