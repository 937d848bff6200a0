package ipcard

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)

// cards are from usual ones to extreme ones.
func cards() map[string]Card {
	long := func(s string) Card {
		s = strings.Repeat(s, 300)
		return Card{netip.MustParseAddr("2408:8207:2463:abcd:b9de:f00d:89ab:cdef"), s, s, s, s, noon}
	}
	return map[string]Card{
		"usual":     {netip.MustParseAddr("203.0.113.7"), "浙江省 杭州市", "电信", "Windows 10/11", "Chrome 126", noon},
		"short":     {netip.MustParseAddr("1.1.1.1"), "澳大利亚", "", "鸿蒙", "微信 8", noon},
		"longest":   {netip.MustParseAddr("255.255.255.255"), "内网", "", "Windows Phone", "Headless Chrome 126", time.Date(2026, 12, 30, 4, 0, 0, 0, time.UTC)},
		"zero":      {},
		"scoped":    {netip.MustParseAddr("fe80::1%" + strings.Repeat("eth", 50)), "内网", "", "", "", noon},
		"names":     {netip.MustParseAddr("2001:db8::1"), "新疆维吾尔自治区 巴音郭楞蒙古自治州", "China Unicom Guangdong Province Network Communications Group", "圳亳儋漯岷", "㙦鄠", noon},
		"hanzi":     long("国"),
		"wide":      long("W"),
		"narrow":    long("i"),
		"words":     long("Aq "),
		"emoji":     long("🌲"),
		"unknown":   long("ก"),
		"markup":    long("<script>&\"'"),
		"controls":  long("\x00\x1b\u202e\u200b\n\t\xff\xfe\ufffe\U000e0001"),
		"accents":   long("e\u0301\u0302"),
		"far years": {Now: time.Date(123456, 12, 30, 4, 0, 0, 0, time.UTC)},
	}
}

func drawn(t testing.TB, c Card) (*image.Paletted, []byte) {
	t.Helper()
	b, err := c.PNG()
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	paletted, ok := img.(*image.Paletted)
	if !ok {
		t.Fatalf("a %T, want a palette", img)
	}
	return paletted, b
}

func acquired(t testing.TB) *renderer {
	t.Helper()
	pool, err := renderers()
	if err != nil {
		t.Fatal(err)
	}
	return pool.Get().(*renderer)
}

func TestPNGIsSmallAndPaletted(t *testing.T) {
	for name, c := range cards() {
		img, b := drawn(t, c)
		if img.Rect != image.Rect(0, 0, 480, 200) {
			t.Errorf("%s: bounds %v", name, img.Rect)
		}
		if len(b) > 15<<10 {
			t.Errorf("%s: %d bytes", name, len(b))
		}
		if len(img.Palette) > 256 {
			t.Errorf("%s: %d colours", name, len(img.Palette))
		}
		for _, at := range []image.Point{{0, 0}, {479, 0}, {0, 199}, {479, 199}} {
			if _, _, _, a := img.At(at.X, at.Y).RGBA(); a != 0 {
				t.Errorf("%s: corner %v is not transparent", name, at)
			}
		}
	}
}

// boxes are the areas of the texts: each line's maxWidth, with a pixel for curves
// that extend beyond it, and the ascent and descent of the font.
var boxes = []image.Rectangle{
	image.Rect(margin-1, 22, 480-margin+1, 41),
	image.Rect(margin-1, 43, 480-margin+1, 93),
	image.Rect(margin+19, 94, 480-margin+1, 120),
	image.Rect(margin-1, 164, margin+118+1, 188),
	image.Rect(margin+133, 164, margin+134+122+1, 188),
	image.Rect(margin+271, 164, 480-margin+1, 188),
}

// strays finds a pixel outside all boxes that differs from the background.
func strays(img, background *image.Paletted) string {
	rest := *img
	rest.Pix = slices.Clone(img.Pix)
	for _, b := range boxes {
		for y := b.Min.Y; y < b.Max.Y; y++ {
			copy(rest.Pix[rest.PixOffset(b.Min.X, y):rest.PixOffset(b.Max.X, y)], background.Pix[background.PixOffset(b.Min.X, y):])
		}
	}
	for i := range rest.Pix {
		if rest.Pix[i] != background.Pix[i] {
			return fmt.Sprint("a stray pixel at ", image.Pt(i%rest.Stride, i/rest.Stride))
		}
	}
	return ""
}

func TestTextStaysInItsBox(t *testing.T) {
	background := acquired(t).background
	for name, c := range cards() {
		img, _ := drawn(t, c)
		if stray := strays(img, background); stray != "" {
			t.Errorf("%s: %s", name, stray)
		}
		for _, b := range boxes {
			if same(img, background, b) {
				t.Errorf("%s: nothing in %v", name, b)
			}
		}
	}
}

func same(a, b *image.Paletted, r image.Rectangle) bool {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		if from, to := a.PixOffset(r.Min.X, y), a.PixOffset(r.Max.X, y); !bytes.Equal(a.Pix[from:to], b.Pix[from:to]) {
			return false
		}
	}
	return true
}

// TestTextHasContrast requires what WCAG 2.2 (1.4.3) requires of small text.
func TestTextHasContrast(t *testing.T) {
	for _, b := range []blend{inkOnPaper, softOnPaper, mutedOnPaper, inkOnFooter, mutedOnFooter} {
		lower, upper := b.colours(accent)
		if c := (luminance(lower) + 0.05) / (luminance(upper) + 0.05); c < 4.5 {
			t.Errorf("blend %d: contrast %.2f", b, c)
		}
	}
}

func luminance(c color.NRGBA) float64 {
	part := func(v uint8) float64 { return math.Pow((float64(v)/255+0.055)/1.055, 2.4) }
	return 0.2126*part(c.R) + 0.7152*part(c.G) + 0.0722*part(c.B)
}

func TestFacts(t *testing.T) {
	p := acquired(t)
	for _, c := range []struct {
		card Card
		want texts
	}{
		{Card{}, texts{"您的 IP 地址", "未知地址", "未知地区", "未知系统", "未知浏览器", "0001年1月1日 星期一"}},
		{cards()["usual"], texts{"您的 IPv4 地址", "203.0.113.7", "浙江省 杭州市 · 电信", "Windows 10/11", "Chrome 126", "2026年11月21日 星期六"}},
		{Card{IP: netip.MustParseAddr("::ffff:192.0.2.1"), Now: noon}, texts{"您的 IPv4 地址", "192.0.2.1", "未知地区", "未知系统", "未知浏览器", "2026年11月21日 星期六"}},
		{Card{IP: netip.MustParseAddr("fe80::1%eth0"), ISP: "移动", Now: noon}, texts{"您的 IPv6 地址", "fe80::1", "未知地区 · 移动", "未知系统", "未知浏览器", "2026年11月21日 星期六"}},
	} {
		if got := c.card.texts(p.legible); got != c.want {
			t.Errorf("%+v:\n got %v\nwant %v", c.card, got, c.want)
		}
	}
}

func TestDateIsThatOfChina(t *testing.T) {
	west := time.FixedZone("", -8*60*60)
	for _, c := range []struct {
		now  time.Time
		want string
	}{
		{time.Date(2026, 11, 21, 15, 59, 59, 0, time.UTC), "2026年11月21日 星期六"},
		{time.Date(2026, 11, 21, 16, 0, 0, 0, time.UTC), "2026年11月22日 星期日"},
		{time.Date(2026, 12, 31, 8, 0, 0, 0, west), "2027年1月1日 星期五"},
		{time.Date(2028, 2, 28, 20, 0, 0, 0, time.UTC), "2028年2月29日 星期二"},
	} {
		if got := date(c.now); got != c.want {
			t.Errorf("%v: %s, want %s", c.now, got, c.want)
		}
	}
}

func TestCardsAreDrawnConcurrently(t *testing.T) {
	all, want := cards(), map[string][]byte{}
	for name, c := range all {
		_, want[name] = drawn(t, c)
	}
	var wg sync.WaitGroup
	for range 4 {
		for name, c := range all {
			wg.Go(func() {
				got, err := c.PNG()
				if err != nil || !bytes.Equal(got, want[name]) {
					t.Errorf("%s: differs when drawn concurrently, %v", name, err)
				}
				if _, err := c.SVG(); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
}

// A core of 2023 takes 1 to 2 ms; 10 ms would be too slow.
func BenchmarkPNG(b *testing.B) {
	c := cards()["names"]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.PNG(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSVG(b *testing.B) {
	c := cards()["names"]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.SVG(); err != nil {
			b.Fatal(err)
		}
	}
}
