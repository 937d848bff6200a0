package qrcode

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	qrreader "github.com/makiuchi-d/gozxing/qrcode"
)

func texts() map[string]string {
	return map[string]string{
		"url": "https://example.org/path?a=1&b=2", "chinese": "你好，世界", "one": "中", "emoji": "👍🏽 ok", "newline": "a\nb\tc", "space": " ",
		"digits": strings.Repeat("0123456789", 20), "alphanumeric": "HELLO WORLD $%*+-./:", "mixed": strings.Repeat("abc中文", 60), "latin": "Grüße é",
	}
}

func read(t *testing.T, b []byte) string {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	bmp, err := gozxing.NewBinaryBitmapFromImage(img)
	if err != nil {
		t.Fatal(err)
	}
	r, err := qrreader.NewQRCodeReader().Decode(bmp, map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_PURE_BARCODE: true})
	if err != nil {
		t.Fatalf("cannot be read: %v", err)
	}
	return r.GetText()
}

func TestEveryTextIsReadBack(t *testing.T) {
	for name, text := range texts() {
		for _, size := range []int{100, 150, 300, 301, 777, 2000} {
			c, err := Encode(text)
			if err != nil {
				t.Fatal(err)
			}
			b, err := c.PNG(size)
			if small, ok := errors.AsType[*TooSmallError](err); ok {
				if size >= small.Min {
					t.Errorf("%s at %d: %v", name, size, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			cfg, err := png.DecodeConfig(bytes.NewReader(b))
			if err != nil || cfg.Width != size || cfg.Height != size {
				t.Errorf("%s: %dx%d, want %d: %v", name, cfg.Width, cfg.Height, size, err)
			}
			if got := read(t, b); got != text {
				t.Errorf("%s at %d: read %q", name, size, got)
			}
		}
	}
}

func TestCapacity(t *testing.T) {
	for _, r := range []struct {
		unit       string
		medium, lo int
	}{{"7", 5596, 7089}, {"A", 3391, 4296}, {"a", 2331, 2953}} {
		for n, want := range map[int]string{r.medium: "M", r.medium + 1: "L", r.lo: "L", r.lo + 1: ""} {
			c, err := Encode(strings.Repeat(r.unit, n))
			if want == "" {
				if !errors.Is(err, ErrTooLong) {
					t.Errorf("%d × %s: %v", n, r.unit, err)
				}
				continue
			}
			if err != nil || c.Level() != want || n != r.medium+1 && c.Version() != 40 {
				t.Errorf("%d × %s: %v", n, r.unit, err)
			}
		}
	}
	c, err := Encode(strings.Repeat("a", 2953))
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.PNG(740)
	if err != nil || read(t, b) != strings.Repeat("a", 2953) {
		t.Errorf("the longest text: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	if _, err := Encode(""); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
	if _, err := Encode("\xff\xfe"); !errors.Is(err, ErrNotUTF8) {
		t.Error(err)
	}
	c, err := Encode("x")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []func(int) ([]byte, error){c.PNG, c.SVG} {
		var small *TooSmallError
		if _, err := f(28); !errors.As(err, &small) || small.Min != 29 {
			t.Errorf("28 pixels: %v", err)
		}
		if _, err := f(29); err != nil {
			t.Errorf("29 pixels: %v", err)
		}
	}
}

func TestQuietZoneIsWhite(t *testing.T) {
	c, err := Encode("quiet")
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{29, 100, 301} {
		b, err := c.PNG(size)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		margin := quiet * (size / (c.Modules() + 2*quiet))
		for x := range size {
			for y := range size {
				outside := x < margin || y < margin || x >= size-margin || y >= size-margin
				if outside && black(img, x, y) {
					t.Fatalf("size %d: a black pixel at %d,%d", size, x, y)
				}
			}
		}
	}
}

func black(img image.Image, x, y int) bool { r, _, _, _ := img.At(x, y).RGBA(); return r == 0 }

func TestSVGShowsTheSameModules(t *testing.T) {
	c, err := Encode("你好")
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.SVG(300)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Width string `xml:"width,attr"`
		Paths []struct {
			D string `xml:"d,attr"`
		} `xml:"path"`
	}
	if err := xml.Unmarshal(b, &doc); err != nil || doc.Width != "300" || len(doc.Paths) != 2 {
		t.Fatalf("%v %+v", err, doc)
	}
	dark := map[[2]int]bool{}
	for _, m := range regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1`).FindAllStringSubmatch(doc.Paths[1].D, -1) {
		x, _ := strconv.Atoi(m[1])
		y, _ := strconv.Atoi(m[2])
		n, _ := strconv.Atoi(m[3])
		for i := range n {
			dark[[2]int{x + i - quiet, y - quiet}] = true
		}
	}
	for y := range c.Modules() {
		for x := range c.Modules() {
			if dark[[2]int{x, y}] != c.code.Black(x, y) {
				t.Fatalf("module %d,%d differs", x, y)
			}
		}
	}
}

func TestIndependentReader(t *testing.T) {
	if _, err := exec.LookPath("zbarimg"); err != nil {
		if slices.Contains(strings.Split(os.Getenv("SUNDRY_TEST_REQUIRE"), ","), "zbar") {
			t.Fatal("zbarimg is required, and not on the PATH")
		}
		t.Skip("zbarimg is not on the PATH")
	}
	for name, text := range texts() {
		if strings.TrimSpace(text) == "" {
			continue // zbarimg prints a line, whose end says nothing
		}
		c, err := Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{300, 640} {
			b, err := c.PNG(size)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), name+".png")
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("zbarimg", "--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", file).Output()
			if err != nil || strings.TrimSuffix(string(out), "\n") != text {
				t.Errorf("%s at %d: read %q: %v", name, size, out, err)
			}
		}
	}
}

func BenchmarkPNG300(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		c, err := Encode("https://example.org/some/path?with=query")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.PNG(300); err != nil {
			b.Fatal(err)
		}
	}
}
