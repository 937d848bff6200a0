package shortlink

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"sundry/upstreams/lib/sharelink"
)

var (
	webScheme   = regexp.MustCompile(`^(?i:https?)://`)
	otherScheme = regexp.MustCompile(`^[A-Za-z0-9+.-]*://`)
	plainHost   = regexp.MustCompile(`^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}(?::[0-9]*)?(?:[/?#]|$)`)
)

// InText returns the link in a text that people share, without the words around it, as
// sharelink.Find does. A text that is nothing but a link keeps all its characters, except
// a sentence's punctuation. A text without a link is returned as it is.
func InText(text string) string {
	first, rest := text, ""
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		first, rest = text[:i], text[i:]
	}
	switch {
	case webScheme.MatchString(first):
		if u, err := url.Parse(escaped(first)); err != nil || !isShort(u) {
			return withoutSentence(first)
		}
	case otherScheme.MatchString(first):
		return text
	case plainHost.MatchString(first) && !isKnown(first) && !strings.Contains(rest, "://"):
		return withoutSentence(first)
	}
	if found := sharelink.Find(text, isKnown); found != "" {
		return found
	}
	if decoded, err := url.QueryUnescape(text); err == nil && decoded != text {
		if found := sharelink.Find(decoded, isKnown); found != "" {
			return found
		}
	}
	return text
}

// isKnown reports whether a link without its scheme is on the host of a known shortener
// or platform.
func isKnown(link string) bool {
	u, err := url.Parse("https://" + link)
	return err == nil && (isShort(u) || sharelink.IsHost(u.Hostname()))
}

// withoutSentence drops the punctuation of Chinese that follows a link directly, with
// what comes after it. Elsewhere such characters may belong to the path.
func withoutSentence(link string) string {
	i := strings.IndexFunc(link, func(r rune) bool { return r > unicode.MaxASCII })
	if i < 0 {
		return strings.TrimRight(link, `"'<>`)
	}
	if r := []rune(link[i:])[0]; unicode.IsPunct(r) || unicode.IsSymbol(r) {
		return link[:i]
	}
	return strings.TrimRightFunc(link, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsPunct(r) })
}
