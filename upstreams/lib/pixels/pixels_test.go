package pixels

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"

	"golang.org/x/image/bmp"
)

func TestSize(t *testing.T) {
	img := image.NewPaletted(image.Rect(0, 0, 31, 17), color.Palette{color.White, color.Black})
	encoded := func(encode func(*bytes.Buffer) error) string {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	icons := "\x00\x00\x01\x00\x02\x00" + "\x10\x10" + string(make([]byte, 14)) + "\x00\x00" + string(make([]byte, 14))
	for name, r := range map[string]struct {
		b    string
		w, h int
	}{
		"png":                {encoded(func(b *bytes.Buffer) error { return png.Encode(b, img) }), 31, 17},
		"gif":                {encoded(func(b *bytes.Buffer) error { return gif.Encode(b, img, nil) }), 31, 17},
		"jpeg":               {encoded(func(b *bytes.Buffer) error { return jpeg.Encode(b, img, nil) }), 31, 17},
		"bmp":                {encoded(func(b *bytes.Buffer) error { return bmp.Encode(b, img) }), 31, 17},
		"webp":               {"RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x1e\x00\x04\x00\x07\x10\x11\x11\x88\x88\xfe\x07\x00", 31, 17},
		"icons":              {icons, 256, 256},
		"icons, cut":         {icons[:24], 16, 16},
		"icons, none":        {"\x00\x00\x01\x00\x00\x00", 0, 0},
		"icons, no header":   {"\x00\x00\x01\x00", 0, 0},
		"svg":                {`<svg xmlns="http://www.w3.org/2000/svg"/>`, 0, 0},
		"nothing":            {"", 0, 0},
		"a header cut short": {"\x89PNG\r\n\x1a\n\x00", 0, 0},
	} {
		if w, h := Size([]byte(r.b)); w != r.w || h != r.h {
			t.Errorf("%s: %d by %d, want %d by %d", name, w, h, r.w, r.h)
		}
	}
}

func FuzzSize(f *testing.F) {
	f.Add([]byte("\x00\x00\x01\x00\xff\xff"))
	f.Add([]byte("\x89PNG\r\n\x1a\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if w, h := Size(b); w < 0 || h < 0 {
			t.Errorf("%d by %d", w, h)
		}
	})
}
