package favicon

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// begins has the first bytes of a type, then zeros.
func begins(magic string) []byte {
	return append([]byte(magic), bytes.Repeat([]byte{0}, 100)...)
}

func TestMediaType(t *testing.T) {
	pad := strings.Repeat(" ", 80)
	bom := "\xef\xbb\xbf"
	rows := map[string]struct{ in, want string }{
		"ico":          {string(begins(icoMagic)), "image/x-icon"},
		"cursor":       {string(begins("\x00\x00\x02\x00")), ""},
		"png":          {string(begins(pngMagic)), "image/png"},
		"gif":          {string(begins("GIF89a")), "image/gif"},
		"jpeg":         {string(begins("\xff\xd8\xff\xe0")), "image/jpeg"},
		"webp":         {string(begins("RIFF\x10\x00\x00\x00WEBPVP8 ")), "image/webp"},
		"wave":         {string(begins("RIFF\x10\x00\x00\x00WAVEfmt ")), ""},
		"bmp":          {string(begins("BM\x10\x00\x00\x00")), "image/bmp"},
		"text":         {"BMW makes cars. " + pad, ""},
		"cut":          {pngMagic, "image/png"},
		"svg cut":      {"<svg xmlns=\"ht", "image/svg+xml"},
		"svg, no root": {"<?xml version='1.0'?><!-- ", "image/svg+xml"},
		"svg":          {string(svg), "image/svg+xml"},
		"svg prolog":   {bom + "\n<?xml version='1.0' encoding=\"ISO-8859-1\"?>\n<!-- <html> -->\n<!DOCTYPE svg PUBLIC \"x\" \"y\" [<!ENTITY ns \"z>\">]>\n" + string(svg), "image/svg+xml"},
		"svg prefix":   {`<svg:svg xmlns:svg="http://www.w3.org/2000/svg">` + pad, "image/svg+xml"},
		"svg like":     {"<svgx>" + pad, ""},
		"svg in html":  {"<!DOCTYPE html><html><svg></svg>" + pad, ""},
		"svg in text":  {"see <svg></svg>" + pad, ""},
		"svg after it": {"<!-- x -->see <svg></svg>" + pad, ""},
		"large svg":    {string(svg) + strings.Repeat("x", maxSVG), ""},
		"html":         {"<!DOCTYPE html><html><head></head></html>" + pad, ""},
		"comment":      {"<!--" + strings.Repeat("-", 200), ""},
		"spaces":       {pad, ""},
		"empty":        {"", ""},
	}
	for name, r := range rows {
		if got := mediaType([]byte(r.in)); got != r.want {
			t.Errorf("%s is %q, want %q", name, got, r.want)
		}
	}
}

// TestCutIconsAreNoAnswer: a site whose icon is cut off has one.
func TestCutIconsAreNoAnswer(t *testing.T) {
	for _, b := range [][]byte{picture(pngMagic), picture(icoMagic), svg} {
		if kind, err := typeOf(b); err != nil || kind == "" {
			t.Error(kind, err)
		}
		for n := 8; n < len(b); n++ {
			if kind, err := typeOf(b[:n]); err == nil || errors.Is(err, ErrNone) {
				t.Errorf("%q: %q, %v", b[:n], kind, err)
			}
		}
	}
}

func FuzzTypeOf(f *testing.F) {
	f.Add(svg)
	f.Add([]byte("<?xml version='1.0' encoding='gbk'?><!DOCTYPE svg [<!ENTITY a 'b'>]><!--x--><svg>                          "))
	f.Fuzz(func(t *testing.T, b []byte) {
		kind, err := typeOf(b)
		if (kind == "") != (err != nil) {
			t.Errorf("%q: %q, %v", b, kind, err)
		}
		if kind == "image/svg+xml" && !bytes.Contains(b, []byte("svg")) || kind != "" && len(b) < minIcon {
			t.Errorf("%q is %s", b, kind)
		}
		if bytes.HasPrefix(b, []byte("<html")) && kind != "" {
			t.Errorf("%q is %s", b, kind)
		}
	})
}
