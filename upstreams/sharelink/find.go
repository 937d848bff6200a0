package sharelink

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// maxText is the longest text that is searched, and the longest Location that
// is followed, in bytes.
const maxText = 8 << 10

// marks are the characters of RFC 3986 besides letters and digits, without
// brackets, which rather belong to the sentence around a link.
const marks = "._~:/?#@!$&'*+,;=%-"

// schemed is a link within a text; Chinese text ends it.
var schemed = regexp.MustCompile(`(?i)https?://[A-Za-z0-9` + marks + `]+`)

// notURL tells what ends a word that may be a link without its scheme.
func notURL(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune(marks, r)
}

// locate finds the link of a text, with its scheme. The text is decoded once
// more when it holds none as it is: callers encode twice.
func locate(raw string) (string, error) {
	if len(raw) > maxText {
		return "", fmt.Errorf("%w; the text is longer than %d bytes", ErrNoLink, maxText)
	}
	if found := find(raw); found != "" {
		return found, nil
	}
	if decoded, err := url.QueryUnescape(raw); err == nil {
		if found := find(decoded); found != "" {
			return found, nil
		}
	}
	return "", ErrNoLink
}

func find(text string) string {
	if found := schemed.FindString(text); found != "" {
		return trim(found)
	}
	for word := range strings.FieldsFuncSeq(text, notURL) {
		host, _, ok := strings.Cut(word, "/")
		if ok && platformOf(strings.ToLower(host)) != nil {
			return "https://" + trim(word)
		}
	}
	return ""
}

// trim drops the punctuation of the sentence around a link.
func trim(link string) string { return strings.TrimRight(link, ".,;:!?)]}'\"") }
