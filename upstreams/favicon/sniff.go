package favicon

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
)

const (
	minIcon = 60 // the smallest possible PNG has 67 bytes
	maxSVG  = 256 << 10
)

// mediaType is the media type of an icon by its first bytes, "" for anything
// else, HTML included, and for content that is too small or too large.
func mediaType(b []byte) string {
	if len(b) < minIcon || len(b) > maxIcon {
		return ""
	}
	for _, p := range []struct{ magic, kind string }{
		{"\x00\x00\x01\x00", "image/x-icon"},
		{"\x89PNG\r\n\x1a\n", "image/png"},
		{"GIF8", "image/gif"},
		{"\xff\xd8\xff", "image/jpeg"},
	} {
		if bytes.HasPrefix(b, []byte(p.magic)) {
			return p.kind
		}
	}
	switch {
	case bytes.HasPrefix(b, []byte("BM")) && bytes.Equal(b[6:10], make([]byte, 4)): // reserved bytes: many texts begin with the two letters
		return "image/bmp"
	case bytes.HasPrefix(b, []byte("RIFF")) && bytes.HasPrefix(b[8:], []byte("WEBP")):
		return "image/webp"
	case isSVG(b):
		return "image/svg+xml"
	}
	return ""
}

// isSVG reports whether the first element of a text is svg. The XML decoder
// skips what may precede it, such as a DOCTYPE with entities.
func isSVG(b []byte) bool {
	b = bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")))
	if len(b) > maxSVG || !bytes.HasPrefix(b, []byte("<")) {
		return false
	}
	d := xml.NewDecoder(bytes.NewReader(b))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // all are supersets of ASCII
	for {
		token, err := d.RawToken()
		if err != nil {
			return false
		}
		switch t := token.(type) {
		case xml.StartElement:
			return t.Name.Local == "svg"
		case xml.CharData:
			if strings.TrimSpace(string(t)) != "" {
				return false
			}
		}
	}
}
