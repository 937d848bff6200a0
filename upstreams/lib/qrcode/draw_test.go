package qrcode

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sundry/upstreams/lib/longtest"
)

// box is the smallest square around the black pixels: three corners of a symbol are
// always black.
func box(img *image.Paletted) image.Rectangle {
	var r image.Rectangle
	for i, p := range img.Pix {
		if p == 1 {
			x, y := i%img.Stride, i/img.Stride
			r = r.Union(image.Rect(x, y, x+1, y+1))
		}
	}
	return r
}

func TestPNGHasTheRequestedSize(t *testing.T) {
	for _, text := range []string{"quiet", "你好，世界", strings.Repeat("long ", 100)} {
		c := encoded(t, text)
		least, usual := 2*(c.Modules()+2*narrowZone), c.Modules()+2*quietZone
		sizes := []int{least, least + 1, 2*usual - 1, 2 * usual, 2*usual + 1, 3*usual - 1, 3 * usual, 1000, 2000}
		for size := least; size < least+40; size++ {
			sizes = append(sizes, size)
		}
		for _, size := range sizes {
			if problem := flaw(drawn(t, c, size), c, size); problem != "" {
				t.Errorf("%d modules in %d pixels: %s", c.Modules(), size, problem)
			}
		}
	}
}

// flaw says what is wrong with a picture: its size, its margin, its position, or
// the first pixel that does not have its module's colour.
func flaw(img *image.Paletted, c *Code, size int) string {
	if img.Rect != image.Rect(0, 0, size, size) {
		return fmt.Sprint("bounds ", img.Rect)
	}
	zone := quietZone
	if size < 2*(c.Modules()+2*quietZone) {
		zone = narrowZone
	}
	at, scale := box(img), size/(c.Modules()+2*zone)
	if at.Dx() != scale*c.Modules() || at.Dy() != at.Dx() {
		return fmt.Sprintf("modules are not of %d pixels: %v", scale, at)
	}
	if at.Min.X < zone*scale || at.Min.Y < zone*scale || size-at.Max.X < zone*scale || size-at.Max.Y < zone*scale {
		return fmt.Sprint("less than the modules of margin around ", at)
	}
	if right := size - at.Max.X; at.Min.X != at.Min.Y || right-at.Min.X < 0 || right-at.Min.X > 1 {
		return fmt.Sprint("not in the middle: ", at)
	}
	for i, p := range img.Pix {
		inside := image.Pt(i%img.Stride, i/img.Stride).Sub(at.Min)
		module := inside.Div(scale)
		want := inside.X >= 0 && inside.Y >= 0 && c.code.Black(module.X, module.Y)
		if (p == 1) != want {
			return fmt.Sprintf("pixel %v of the symbol, module %v: colour %d", inside, module, p)
		}
	}
	return ""
}

func TestPNGIsOneBitBlackOnWhite(t *testing.T) {
	b, err := new(Painter).PNG(encoded(t, "bits"), 100, Plain())
	if err != nil {
		t.Fatal(err)
	}
	// In the header chunk: bit depth, then colour type; 3 is a palette.
	if depth, kind := b[24], b[25]; depth != 1 || kind != 3 {
		t.Errorf("bit depth %d, colour type %d", depth, kind)
	}
	palette := drawn(t, encoded(t, "bits"), 100).Palette
	for i, want := range []color.Color{color.White, color.Black} {
		r, g, b, a := palette[i].RGBA()
		if wr, wg, wb, wa := want.RGBA(); r != wr || g != wg || b != wb || a != wa {
			t.Errorf("colour %d is %v", i, palette[i])
		}
	}
}

func vector(c *Code) func(int) ([]byte, error) {
	return func(size int) ([]byte, error) { return c.SVG(size, Plain()) }
}

func painted(c *Code) func(int) ([]byte, error) {
	return func(size int) ([]byte, error) { return new(Painter).PNG(c, size, Plain()) }
}

// Memory does not grow with the number of pixels.
func TestPNGMemoryIsBounded(t *testing.T) {
	longtest.NotShort(t, "it takes a second")
	var p Painter
	c := encoded(t, strings.Repeat("large ", 50))
	if _, err := p.PNG(c, 2000, Plain()); err != nil {
		t.Fatal(err)
	}
	got := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if _, err := p.PNG(c, 2000, Plain()); err != nil {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	if got > 1<<20 {
		t.Errorf("%d bytes for a picture of 4,000,000 pixels", got)
	}
}

func TestTooSmallNamesTheSmallestSize(t *testing.T) {
	c, long := encoded(t, "x"), encoded(t, strings.Repeat("x", 2953))
	for name, r := range map[string]struct {
		draw func(int) ([]byte, error)
		min  int
	}{"PNG": {painted(c), 50}, "SVG": {vector(c), 50}, "long PNG": {painted(long), 362}, "long SVG": {vector(long), 362}} {
		for _, size := range []int{-1, 0, 1, r.min - 1} {
			b, err := r.draw(size)
			if small, ok := errors.AsType[*TooSmallError](err); !ok || small.Min != r.min || b != nil {
				t.Errorf("%s at %d: %v, want at least %d", name, size, err, r.min)
			}
		}
		if _, err := r.draw(r.min); err != nil {
			t.Errorf("%s at %d: %v", name, r.min, err)
		}
	}
}

type svg struct {
	XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
	Width   string   `xml:"width,attr"`
	Height  string   `xml:"height,attr"`
	ViewBox string   `xml:"viewBox,attr"`
	Paths   []struct {
		D    string `xml:"d,attr"`
		Fill string `xml:"fill,attr"`
	} `xml:"path"`
}

func TestSVGShowsThePNGsModules(t *testing.T) {
	run := regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-(\d+)z`)
	for _, text := range texts() {
		c := encoded(t, text)
		b, err := c.SVG(300, Plain())
		if err != nil {
			t.Fatal(err)
		}
		var doc svg
		if err := xml.Unmarshal(b, &doc); err != nil {
			t.Fatal(err)
		}
		width := c.Modules() + 2*quietZone
		if view := fmt.Sprintf("0 0 %d %d", width, width); doc.Width != "300" || doc.Height != "300" || doc.ViewBox != view {
			t.Fatalf("%s by %s, view %s, want 300 and %s", doc.Width, doc.Height, doc.ViewBox, view)
		}
		if len(doc.Paths) != 2 || doc.Paths[0].Fill != "#ffffff" || doc.Paths[1].Fill != "#000000" {
			t.Fatalf("paths %+v, want white ground and black runs", doc.Paths)
		}
		if rest := run.ReplaceAllString(doc.Paths[1].D, ""); rest != "" {
			t.Fatalf("%q is no run", rest)
		}
		got := make([]byte, width*width)
		for _, m := range run.FindAllStringSubmatch(doc.Paths[1].D, -1) {
			x, y, n, back := number(t, m[1]), number(t, m[2]), number(t, m[3]), number(t, m[4])
			copy(got[y*width+x:], bytes.Repeat([]byte{1}, n))
			if n != back {
				t.Errorf("a run of %d goes back %d", n, back)
			}
		}
		// At two pixels per module every other pixel of a picture is a module or margin.
		picture := drawn(t, c, 2*width)
		for i := range got {
			if got[i] != picture.Pix[2*(i/width)*picture.Stride+2*(i%width)] {
				t.Fatalf("%q: SVG and PNG differ", text)
			}
		}
		if len(picture.Pix) != 4*len(got) {
			t.Errorf("%q: SVG and PNG differ", text)
		}
	}
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func BenchmarkPNG300(b *testing.B) {
	b.ReportAllocs()
	var p Painter
	for b.Loop() {
		if _, err := p.PNG(encoded(b, "https://example.org/some/path?with=query"), 300, Plain()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSVG300(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := encoded(b, "https://example.org/some/path?with=query").SVG(300, Plain()); err != nil {
			b.Fatal(err)
		}
	}
}
