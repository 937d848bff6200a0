package qrcode

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	qrreader "github.com/makiuchi-d/gozxing/qrcode"
)

// tooLong begins the refusal of a text beyond the largest symbol.
const tooLong = "text is too long for a QR code: "

func texts() map[string]string {
	return map[string]string{
		"url":          "https://example.org/path?a=1&b=2",
		"chinese":      "你好，世界",
		"one":          "中",
		"emoji":        "👍🏽 ok",
		"newline":      "a\nb\tc",
		"ends":         " a\r\n",
		"space":        " ",
		"nought":       "0",
		"digits":       strings.Repeat("0123456789", 20),
		"alphanumeric": "HELLO WORLD $%*+-./:",
		"symbols":      "~\\^{}|\x00\x7f",
		"mixed":        strings.Repeat("abc中文", 60),
		"latin":        "Grüße é",
	}
}

func encoded(t testing.TB, text string) *Code {
	t.Helper()
	c, err := Encode(text, "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// drawn is the symbol's picture, decoded.
func drawn(t testing.TB, c *Code, size int) *image.Paletted {
	t.Helper()
	b, err := new(Painter).PNG(c, size, Plain())
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return img.(*image.Paletted)
}

// read decodes the symbol at a size with another implementation.
func read(t testing.TB, c *Code, size int) string {
	t.Helper()
	bmp, err := gozxing.NewBinaryBitmapFromImage(drawn(t, c, size))
	if err != nil {
		t.Fatal(err)
	}
	pure := map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_PURE_BARCODE: true}
	r, err := qrreader.NewQRCodeReader().Decode(bmp, pure)
	if err != nil {
		t.Fatalf("version %d at %d pixels cannot be read: %v", c.Version(), size, err)
	}
	return r.GetText()
}

func TestEveryTextIsReadBack(t *testing.T) {
	for name, text := range texts() {
		c := encoded(t, text)
		for _, size := range []int{2 * (c.Modules() + 2*narrowZone), 2 * (c.Modules() + 2*quietZone), 250, 300, 301, 777} {
			if got := read(t, c, size); got != text {
				t.Errorf("%s at %d: read %q", name, size, got)
			}
		}
	}
}

// The bytes that each version holds at level M: ISO/IEC 18004, table 7.
func TestEveryVersionHoldsWhatTheStandardSays(t *testing.T) {
	medium := []int{
		14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666, 711, 779,
		857, 911, 997, 1059, 1125, 1190, 1264, 1370, 1452, 1538, 1628, 1722, 1809, 1911, 1989, 2099, 2213, 2331,
	}
	for i, n := range medium {
		text := strings.Repeat("ab~", n)[:n]
		c := encoded(t, text)
		if c.Version() != i+1 || c.Level() != "M" || c.Modules() != 21+4*i {
			t.Errorf("%d bytes: version %d-%s of %d modules", n, c.Version(), c.Level(), c.Modules())
		}
		if got := read(t, c, 2*(c.Modules()+2*narrowZone)); got != text {
			t.Errorf("version %d: read %q", i+1, got)
		}
		if c := encoded(t, text+"a"); c.Version() == i+1 && c.Level() == "M" {
			t.Errorf("version %d holds more than %d bytes", i+1, n)
		}
	}
}

// "é" is two bytes, so that its texts grow from one side of a limit to the other.
func TestCapacity(t *testing.T) {
	for _, r := range []struct {
		start, unit string
		medium, low int
		want        string
	}{
		{"", "7", 5596, 7089, "expected at most 7089 digits, got 7090"},
		{"", "A", 3391, 4296, "expected at most 4296 capitals and digits, got 4297"},
		{"", "a", 2331, 2953, "expected at most 2953 bytes, got 2954"},
		{"é", "a", 2330, 2952, "expected at most 2952 bytes of UTF-8, got 2953"},
	} {
		of := func(n int) string { return r.start + strings.Repeat(r.unit, n-len(r.start)) }
		for n, level := range map[int]string{r.medium: "M", r.medium + 1: "L", r.low: "L"} {
			c := encoded(t, of(n))
			if c.Level() != level {
				t.Errorf("%d × %s: level %s, want %s", n, r.unit, c.Level(), level)
			}
			if got := read(t, c, 2*(c.Modules()+2*quietZone)); got != of(n) {
				t.Errorf("%d × %s: read %d bytes", n, r.unit, len(got))
			}
		}
		_, err := Encode(of(r.low+1), "")
		if err == nil || err.Error() != tooLong+r.want {
			t.Errorf("%d × %s: %v, want %q", r.low+1, r.unit, err, r.want)
		}
	}
}

func TestChineseOfTheLargestSymbol(t *testing.T) {
	text := strings.Repeat("中", 984)
	c := encoded(t, text)
	if c.Version() != 40 || read(t, c, 400) != text {
		t.Errorf("version %d does not read back", c.Version())
	}
	if _, err := Encode(text+"中", ""); err == nil || !strings.HasPrefix(err.Error(), tooLong) {
		t.Errorf("985 characters: %v", err)
	}
}

// At a level of the caller's choice nothing else is taken.
func TestLevels(t *testing.T) {
	for level, most := range map[string]int{"L": 2953, "M": 2331, "Q": 1663, "H": 1273} {
		text := strings.Repeat("a", most)
		c, err := Encode(text, level)
		if err != nil || c.Level() != level || read(t, c, 362) != text {
			t.Errorf("%s: %v", level, err)
		}
		_, err = Encode(text+"a", level)
		if want := fmt.Sprintf("%sexpected at most %d bytes, got %d", tooLong, most, most+1); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", level, err, want)
		}
	}
	for _, level := range []string{"l", "X", "LM"} {
		if _, err := Encode("a", level); !errors.Is(err, ErrLevel) {
			t.Errorf("%s: %v", level, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"":                            errEmpty.Error(),
		"\xff\xfe":                    errNotUTF8.Error(),
		"good\xc3":                    errNotUTF8.Error(),
		"\xed\xa0\x80":                errNotUTF8.Error(), // half of a surrogate pair
		strings.Repeat("x", 1<<20):    tooLong,
		strings.Repeat("\xff", 1<<20): errNotUTF8.Error(),
	} {
		if c, err := Encode(text, ""); err == nil || !strings.HasPrefix(err.Error(), want) || c != nil {
			t.Errorf("%.10q: %v, want %v", text, err, want)
		}
	}
}

func FuzzEncode(f *testing.F) {
	for _, text := range texts() {
		f.Add(text)
	}
	f.Add("\xff")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Encode(text, "")
		if err != nil {
			if !errors.Is(err, errEmpty) && !errors.Is(err, errNotUTF8) && !strings.HasPrefix(err.Error(), tooLong) {
				t.Fatal(err)
			}
			return
		}
		if got := read(t, c, 2*(c.Modules()+2*narrowZone)); got != text {
			t.Errorf("read %q, want %q", got, text)
		}
	})
}
