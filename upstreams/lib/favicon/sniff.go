package favicon

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"

	"sundry/upstreams/lib/pixels"
)

const (
	minIcon = 60 // the smallest possible PNG has 67 bytes
	maxSVG  = 256 << 10
)

// typeOf is the media type of an icon. The error is ErrNone for anything else, HTML
// included, and for what is too small or too large; or it says that the icon is cut off,
// which is no answer of the site.
func typeOf(b []byte) (string, error) {
	kind := mediaType(b)
	if kind == "" {
		return "", ErrNone
	}
	if err := pixels.Whole(kind, b); err != nil {
		return "", err
	}
	if len(b) < minIcon {
		return "", ErrNone
	}
	return kind, nil
}

// mediaType is the media type of a picture by its first bytes, "" for anything else and
// for what is too large.
func mediaType(b []byte) string {
	if len(b) > maxIcon {
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
	case len(b) >= 10 && bytes.HasPrefix(b, []byte("BM")) && bytes.Equal(b[6:10], make([]byte, 4)): // reserved bytes: many texts begin with the two letters
		return "image/bmp"
	case len(b) >= 12 && bytes.HasPrefix(b, []byte("RIFF")) && bytes.HasPrefix(b[8:], []byte("WEBP")):
		return "image/webp"
	case isSVG(b):
		return "image/svg+xml"
	}
	return ""
}

// isSVG reports whether the first element of a text is svg, or would be if the text went
// on. The XML decoder skips what may precede it, such as a DOCTYPE with entities.
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
			return bytes.HasPrefix(b, []byte("<svg")) || bytes.HasPrefix(b, []byte("<?xml"))
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
