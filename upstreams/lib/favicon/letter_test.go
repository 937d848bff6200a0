package favicon

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"
)

func TestLetter(t *testing.T) {
	for _, size := range []int{16, 64, 512} {
		b, err := Letter("example.org", size)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil || img.Bounds() != image.Rect(0, 0, size, size) {
			t.Fatalf("%d: %v %v", size, img, err)
		}
		ground := img.At(0, 0)
		var letter image.Rectangle
		for y := range size {
			for x := range size {
				if img.At(x, y) != ground {
					letter = letter.Union(image.Rect(x, y, x+1, y+1))
				}
			}
		}
		left, right, top, bottom := letter.Min.X, size-letter.Max.X, letter.Min.Y, size-letter.Max.Y
		if off := max(left-right, right-left, top-bottom, bottom-top); letter.Dy() < size/3 || off > 2+size/32 || ground == (color.RGBA{255, 255, 255, 255}) {
			t.Errorf("%d: the letter is at %v on %v", size, letter, ground)
		}
	}
	if _, err := Letter("example.org", 0); err == nil {
		t.Error("no pixels at all")
	}
}

func TestLettersDiffer(t *testing.T) {
	a, _ := Letter("example.org", 32)
	again, _ := Letter("www.example.org", 32)
	other, _ := Letter("another.example.org", 32)
	if !bytes.Equal(a, again) || bytes.Equal(a, other) {
		t.Error("expected one icon per host, with and without www")
	}
	for host, want := range map[string]string{"example.org": "E", "www.bing.com": "B", "360.cn": "3", "xn--fiqs8s": "F", "_x.org": "X", "": "?"} {
		if got := firstLetter(host); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}

// White letters are legible on every colour.
func TestColorsAreDark(t *testing.T) {
	for hue := range 360 {
		c := hsl(float64(hue), 0.5, 0.36)
		if y := 299*int(c.R) + 587*int(c.G) + 114*int(c.B); y > 150_000 {
			t.Errorf("hue %d: %v", hue, c)
		}
	}
}
