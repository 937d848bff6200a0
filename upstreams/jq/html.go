package jq

import (
	"strings"

	"golang.org/x/net/html"
)

// plainText makes text of HTML: no tags, entities decoded, white space
// collapsed. A tag that was cut off at the end is dropped as well.
func plainText(v any) any {
	s, ok := v.(string)
	if !ok {
		return v
	}
	if at := strings.LastIndexByte(s, '<'); at >= 0 && !strings.Contains(s[at:], ">") {
		s = s[:at]
	}
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(s))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(b.String()), " ")
		case html.TextToken:
			b.Write(z.Text())
		}
	}
}
