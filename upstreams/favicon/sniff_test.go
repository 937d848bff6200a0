package favicon

import (
	"bytes"
	"strings"
	"testing"
)

func TestMediaType(t *testing.T) {
	pad := strings.Repeat(" ", 80)
	bom := "\xef\xbb\xbf"
	rows := map[string]struct{ in, want string }{
		"ico":          {string(picture(icoMagic)), "image/x-icon"},
		"cursor":       {string(picture("\x00\x00\x02\x00")), ""},
		"png":          {string(picture(pngMagic)), "image/png"},
		"gif":          {string(picture("GIF89a")), "image/gif"},
		"jpeg":         {string(picture("\xff\xd8\xff\xe0")), "image/jpeg"},
		"webp":         {string(picture("RIFF\x10\x00\x00\x00WEBPVP8 ")), "image/webp"},
		"wave":         {string(picture("RIFF\x10\x00\x00\x00WAVEfmt ")), ""},
		"bmp":          {string(picture("BM\x10\x00\x00\x00")), "image/bmp"},
		"text":         {"BMW makes cars. " + pad, ""},
		"small":        {pngMagic + strings.Repeat("\x00", 51), ""},
		"smallest":     {pngMagic + strings.Repeat("\x00", 52), "image/png"},
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

func FuzzMediaType(f *testing.F) {
	f.Add(svg)
	f.Add([]byte("<?xml version='1.0' encoding='gbk'?><!DOCTYPE svg [<!ENTITY a 'b'>]><!--x--><svg>                          "))
	f.Fuzz(func(t *testing.T, b []byte) {
		kind := mediaType(b)
		if kind == "image/svg+xml" && !bytes.Contains(b, []byte("svg")) || kind != "" && len(b) < minIcon {
			t.Errorf("%q is %s", b, kind)
		}
		if bytes.HasPrefix(b, []byte("<html")) && kind != "" {
			t.Errorf("%q is %s", b, kind)
		}
	})
}
