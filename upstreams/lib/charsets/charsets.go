// Package charsets finds the encodings of texts by their labels, as browsers do
// (https://encoding.spec.whatwg.org/#names-and-labels).
package charsets

import (
	"regexp"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// Of returns the encoding of a label and its name in the standard; ok is false for
// an unknown label. GBK and GB 2312 are decoded as GB 18030, of which they are
// subsets: texts labelled so have characters that only GB 18030 has.
func Of(label string) (e encoding.Encoding, name string, ok bool) {
	e, err := htmlindex.Get(label)
	if err != nil {
		return nil, "", false
	}
	if e == simplifiedchinese.GBK {
		e = simplifiedchinese.GB18030
	}
	name, err = htmlindex.Name(e)
	return e, name, err == nil
}

// maxPrologue is how far from its beginning a document may name its encoding.
const maxPrologue = 2048

var label = regexp.MustCompile(`(?i)\b(?:charset|encoding)\s*=\s*["']?([a-z0-9._:-]+)`)

// Label returns the label in a Content-Type, or else at the beginning of a page or an
// XML document; "" means that there is none.
func Label(contentType string, text []byte) string {
	for _, in := range [...][]byte{[]byte(contentType), text[:min(len(text), maxPrologue)]} {
		if m := label.FindSubmatch(in); m != nil {
			return string(m[1])
		}
	}
	return ""
}

// Readable returns a text for people to read: in UTF-8 if it is that already, or names
// an encoding that is known; unchanged otherwise.
func Readable(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	e, _, ok := Of(Label("", text))
	if !ok {
		return text
	}
	if plain, err := e.NewDecoder().Bytes(text); err == nil {
		return plain
	}
	return text
}
