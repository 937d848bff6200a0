package pixels

import (
	"bytes"
	"encoding/xml"
	"io"
)

// wholeSVG reports whether the first element of a text ends. Elements are counted, not
// compared: that is enough to see that some are missing.
func wholeSVG(b []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(plainText(b)))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for depth := 0; ; {
		token, err := d.RawToken()
		if err != nil {
			return false
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			if depth--; depth <= 0 {
				return true
			}
		}
	}
}

// plainText has a letter for each byte beyond ASCII, so that the encoding does not matter:
// in none that the web has is a part of such a character a bracket.
func plainText(b []byte) []byte {
	out := bytes.Clone(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")))
	for i, c := range out {
		if c >= 0x80 {
			out[i] = 'x'
		}
	}
	return out
}
