package ipcard

import (
	"strings"
	"testing"

	"golang.org/x/image/math/fixed"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// hanzi are the 6763 Chinese characters of GB 2312.
func hanzi(t *testing.T) string {
	var b []byte
	for row := byte(0xb0); row <= 0xf7; row++ {
		for cell := byte(0xa1); cell <= 0xfe; cell++ {
			if row != 0xd7 || cell < 0xfa { // where level 1 ends
				b = append(b, row, cell)
			}
		}
	}
	s, err := simplifiedchinese.GBK.NewDecoder().Bytes(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(s)
}

// outlined reports whether the font draws anything for a character.
func outlined(p *renderer, w weight, r rune) bool {
	i, err := p.fonts[w].GlyphIndex(&p.glyphs, r)
	if err != nil || i == 0 {
		return false
	}
	segments, err := p.fonts[w].LoadGlyph(&p.glyphs, i, fixed.I(16), nil)
	return err == nil && len(segments) > 0
}

func TestFontHasAllCharactersOfCards(t *testing.T) {
	p := acquired(t)
	shown := "圳亳儋漯岷埇沚浉瀍猇硚鄠氹臺灣·…？?ÀéßØñµ℃№ЖяΩあア" + unknownAddress + unknownPlace + unknownSystem + unknownBrowser +
		"您的地址操作系统浏览器日期年月日星期一二三四五六网络爬虫内网鸿蒙"
	for _, s := range brands {
		shown += s.name
	}
	for r := '!'; r <= '~'; r++ {
		shown += string(r)
	}
	all := hanzi(t)
	if n := len([]rune(all)); n != 6763 {
		t.Fatalf("%d hanzi of GB 2312, want 6763", n)
	}
	for _, r := range strings.ReplaceAll(shown, " ", "") + all {
		if !outlined(p, regular, r) {
			t.Errorf("nothing is drawn for %q", r)
		}
	}
	for _, r := range "0123456789abcdef.:" {
		if !outlined(p, bold, r) {
			t.Errorf("nothing bold is drawn for %q", r)
		}
	}
}

func TestLegible(t *testing.T) {
	p := acquired(t)
	for in, want := range map[string]string{
		"":                        "",
		"浙江省  杭州市\n":              "浙江省 杭州市",
		"Łódź Büro Škoda đ":       "Lódz Büro Skoda d",
		"cafe\u0301":              "café",
		"ＴＥＬ　①":                   "ＴＥＬ ①",
		"中国🌲电信 🌲":                 "中国电信",
		"ก":                       "",
		"AIS กขค TH":              "AIS ? TH",
		"🌲":                       "",
		"*-*":                     "",
		"\x00a\x1b[0m\u202eb\xff": "a[0mb",
		"ﬁbre":                    "fibre",
	} {
		if got := p.legible(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestFitShrinksThenCuts(t *testing.T) {
	p := acquired(t)
	for _, c := range []struct {
		text, want string
		size       int
	}{
		{"国国国国国", "国国国国国", 16},
		{"国国国国国国国国", "国国国国国国国国", 15},
		{"国国国国国国国国国国", "国国国国国国国国国国", 12},
		{"国国国国国国国国国国国", "国国国国国国国国国…", 12},
		{"国国国国国国国国 · 国国国", "国国国国国国国国…", 12},
	} {
		got := p.fit(line{text: c.text, style: style{regular, 16}, maxWidth: 120}, 12)
		if got.text != c.want || got.style.size != c.size || got.width > got.maxWidth {
			t.Errorf("%s: %s at %d, %d wide; want %s at %d", c.text, got.text, got.style.size, got.width, c.want, c.size)
		}
	}
}

func TestFitNeverOverflows(t *testing.T) {
	p := acquired(t)
	for name, c := range cards() {
		for _, clean := range []func(string) string{clean, p.legible} {
			for _, l := range p.lines(c.texts(clean)) {
				if l.width > l.maxWidth || l.style.size < 12 || l.text == "" {
					t.Errorf("%s: %q at %d is %d wide, in %d", name, l.text, l.style.size, l.width, l.maxWidth)
				}
			}
		}
	}
}
