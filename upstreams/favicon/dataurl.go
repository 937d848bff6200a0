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

// cutData gives what a data: URL says of its data (RFC 2397).
func cutData(href string) (about string, ok bool) {
	if !isData(href) {
		return "", false
	}
	about, _, ok = strings.Cut(href[len(dataScheme):], ",")
	return about, ok
}

// decodeData gives the bytes of a data: URL, none for a broken one. A percent
// sign that escapes nothing stands for itself, as in browsers: hand-written SVG
// is full of them.
func decodeData(href string) []byte {
	about, ok := cutData(href)
	if !ok {
		return nil
	}
	text := href[len(dataScheme)+len(about)+1:]
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	if !strings.HasSuffix(strings.ToLower(strings.TrimSpace(about)), "base64") {
		return []byte(text)
	}
	text = strings.TrimRight(strings.Join(strings.Fields(text), ""), "=")
	b, err := base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(text))
	if err != nil {
		return nil
	}
	return b
}
