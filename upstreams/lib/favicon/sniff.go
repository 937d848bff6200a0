package favicon

import (
	"bytes"
	"encoding/xml"
	"io"
	"net/http"
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
	switch kind := http.DetectContentType(b); {
	case bytes.HasPrefix(b, []byte("\x00\x00\x02\x00")): // a cursor
		return ""
	case kind == "image/bmp" && (len(b) < 10 || !bytes.Equal(b[6:10], make([]byte, 4))): // reserved: texts may begin with BM
		return ""
	case strings.HasPrefix(kind, "image/"):
		return kind
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
