package favicon

import (
	"encoding/base64"
	"net/url"
	"strings"
)

const dataScheme = "data:"

func isData(href string) bool {
	return len(href) > len(dataScheme) && strings.EqualFold(href[:len(dataScheme)], dataScheme)
}

// cutData returns the media type of a data: URL with its parameters (RFC 2397).
func cutData(href string) (kind string, ok bool) {
	if !isData(href) {
		return "", false
	}
	kind, _, ok = strings.Cut(href[len(dataScheme):], ",")
	return kind, ok
}

// decodeData returns the bytes of a data: URL, none for a malformed one. A percent
// sign that does not begin an escape is literal, as in browsers: hand-written SVG
// often has them.
func decodeData(href string) []byte {
	kind, ok := cutData(href)
	if !ok {
		return nil
	}
	text := href[len(dataScheme)+len(kind)+1:]
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	if !strings.HasSuffix(strings.ToLower(strings.TrimSpace(kind)), "base64") {
		return []byte(text)
	}
	text = strings.TrimRight(strings.Join(strings.Fields(text), ""), "=")
	b, err := base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(text))
	if err != nil {
		return nil
	}
	return b
}
