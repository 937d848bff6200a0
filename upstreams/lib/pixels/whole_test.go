package pixels

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
	"testing"

	"golang.org/x/image/bmp"

	"sundry/upstreams/lib/costtest"
)

// whole are small pictures, by media type and name.
func whole(t testing.TB) map[[2]string][]byte {
	t.Helper()
	img := image.NewPaletted(image.Rect(0, 0, 9, 7), color.Palette{color.White, color.Black, color.Transparent})
	for i := range img.Pix {
		img.Pix[i] = uint8(i % 3)
	}
	encoded := func(encode func(io.Writer) error) []byte {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	asPNG := encoded(func(w io.Writer) error { return png.Encode(w, img) })
	asJPEG := encoded(func(w io.Writer) error { return jpeg.Encode(w, img, nil) })
	return map[[2]string][]byte{
		{"image/png", "plain"}:      asPNG,
		{"image/jpeg", "plain"}:     asJPEG,
		{"image/jpeg", "preview"}:   withPreview(asJPEG),
		{"image/gif", "plain"}:      encoded(func(w io.Writer) error { return gif.Encode(w, img, nil) }),
		{"image/gif", "animated"}:   encoded(func(w io.Writer) error { return gif.EncodeAll(w, animation(img)) }),
		{"image/bmp", "plain"}:      encoded(func(w io.Writer) error { return bmp.Encode(w, img) }),
		{"image/webp", "lossless"}:  []byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"),
		{"image/x-icon", "two"}:     iconFile(asPNG, asPNG[:40]),
		{"image/svg+xml", "plain"}:  []byte(`<svg xmlns="http://www.w3.org/2000/svg"><title>a &gt; b</title><g><path d="M0 0h1v1z"/></g></svg>`),
		{"image/svg+xml", "prolog"}: []byte("\xef\xbb\xbf<?xml version='1.0' encoding='gbk'?>\n<!-- <svg/> -->\n<!DOCTYPE svg [<!ENTITY ns \"z>\">]>\n<svg a=\"&ns;\"><desc>\xd6\xd0\xce\xc4</desc><style><![CDATA[</svg>]]></style></svg>"),
		{"image/svg+xml", "empty"}:  []byte(`<svg/>`),
	}
}

// withPreview has a smaller picture, with an end of its own, in a segment.
func withPreview(b []byte) []byte {
	segment := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(2+len(b)))
	return bytes.Join([][]byte{b[:2], segment, b, {0xff}, b[2:]}, nil)
}

func animation(img *image.Paletted) *gif.GIF {
	return &gif.GIF{Image: []*image.Paletted{img, img}, Delay: []int{1, 1}}
}

func iconFile(pictures ...[]byte) []byte {
	b := []byte{0, 0, 1, 0, byte(len(pictures)), 0}
	at := uint32(6 + 16*len(pictures))
	for _, p := range pictures {
		size := uint32(len(p))
		b = append(b, 9, 7, 0, 0, 1, 0, 32, 0)
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, size), at)
		at += size
	}
	return append(b, bytes.Join(pictures, nil)...)
}

// TestWhole: a picture is whole, whatever follows it; without its last byte, or with any
// fewer, it is cut off.
func TestWhole(t *testing.T) {
	for name, b := range whole(t) {
		for _, tail := range []string{"", "\n", "\x00\x00", "<!-- served by a cache -->", string(b)} {
			if err := Whole(name[0], append(bytes.Clone(b), tail...)); err != nil {
				t.Errorf("%s and %q: %v", name, tail, err)
			}
		}
		for n := range b[:least(name, b)] {
			if Whole(name[0], b[:n]) == nil {
				t.Errorf("%s: %d of %d bytes are a whole picture", name, n, len(b))
			}
		}
	}
}

// least is how many bytes of a picture are whole: all of them, but of an icon file one
// complete picture is enough.
func least(name [2]string, b []byte) int {
	if name[0] == "image/x-icon" {
		return 22 + 16 + int(binary.LittleEndian.Uint32(b[14:]))
	}
	return len(b)
}

// TestOnePictureOfAnIconFileIsEnough: the others may be cut off, or be nowhere.
func TestOnePictureOfAnIconFileIsEnough(t *testing.T) {
	picture := whole(t)[[2]string{"image/png", "plain"}]
	large := bytes.Repeat([]byte{1}, 1000)
	b := iconFile(picture, large)
	b[22], b[23] = 0, 0 // 256 by 256
	if Whole("image/x-icon", b[:len(b)-64]) != nil {
		t.Error("the last picture is 64 bytes short")
	}
	if w, h := Size(b[:len(b)-64]); w != 9 || h != 7 {
		t.Errorf("%d by %d, of a picture that is not complete", w, h)
	}
	if w, h := Size(b); w != 256 || h != 256 {
		t.Errorf("%d by %d", w, h)
	}
	b = iconFile(large, picture)
	binary.LittleEndian.PutUint32(b[18:], 1<<31) // the first one is nowhere
	if Whole("image/x-icon", b) != nil {
		t.Error("the first picture is nowhere")
	}
	if b = iconFile(large, large); Whole("image/x-icon", b[:len(b)-len(large)-1]) == nil {
		t.Error("none is complete")
	}
}

// TestNothingDrawn: a beginning and an end alone are no picture.
func TestNothingDrawn(t *testing.T) {
	for b, mediaType := range map[string]string{
		"\x89PNG\r\n\x1a\n\x00\x00\x00\x00IEND\xaeB`\x82": "image/png",
		"\xff\xd8\xff\xd9":                             "image/jpeg",
		"GIF89a\x01\x00\x01\x00\x00\x00\x00;":          "image/gif",
		"RIFF\x04\x00\x00\x00WEBPVP8 \x00\x00\x00\x00": "image/webp",
		"BM\x0e\x00\x00\x00\x00\x00\x00\x00\x1a\x00\x00\x00" + string(make([]byte, 20)): "image/bmp",
		"\x00\x00\x01\x00\x00\x00":                            "image/x-icon",
		"\x00\x00\x01\x00\x01\x00" + string(make([]byte, 40)): "image/x-icon",
		"<!-- nothing -->":                                    "image/svg+xml",
	} {
		if Whole(mediaType, []byte(b)) == nil {
			t.Errorf("%q is a picture", b)
		}
	}
}

// TestOtherTypes are not judged.
func TestOtherTypes(t *testing.T) {
	if err := Whole("image/avif", []byte("\x00")); err != nil {
		t.Error(err)
	}
}

// TestWholeIsLinear: none takes longer than its length explains.
func TestWholeIsLinear(t *testing.T) {
	pictures := whole(t)
	for _, mediaType := range []string{"image/jpeg", "image/gif", "image/svg+xml"} {
		begun := bytes.Clone(pictures[[2]string{mediaType, "plain"}])
		begun = begun[:len(begun)-1]
		t.Run(mediaType, func(t *testing.T) {
			costtest.Linear(t, func(text string) { _ = Whole(mediaType, append(slices.Clip(begun), text...)) })
		})
	}
}

// FuzzWhole: what is whole remains so with more behind it, and nothing panics.
func FuzzWhole(f *testing.F) {
	for name, b := range whole(f) {
		f.Add(name[0], b)
	}
	f.Fuzz(func(t *testing.T, mediaType string, b []byte) {
		if Whole(mediaType, b) != nil {
			return
		}
		if err := Whole(mediaType, append(bytes.Clone(b), "more"...)); err != nil {
			t.Errorf("%q is whole; with more behind it: %v", b, err)
		}
	})
}
