package ipcard

import (
	"bytes"
	"image/png"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"sundry/upstreams/lib/costtest"
)

func sampleDigest() *Digest {
	return &Digest{
		Title: "每天60秒读懂世界", Date: "2026年11月21日 星期六 · 农历丙午年十月十三",
		News: []string{
			"今年 1-10 月全国一般公共预算收入同比增长 5.8%，证券交易印花税同比增 99.2%",
			"三部门：个人消费贷款贴息上限提高到 5000 元，装修、购车等信用卡分期消费均可以享受贴息优惠",
			"我国科学家首次合成世界上最长单原子直径 “金属线”，长度突破微米级",
			"气温 -3℃～12℃，龘靐齉爩 and emoji 🙂 in between",
			strings.Repeat("很长的一条新闻，", 60),
		},
		Tip: "不要害怕暂时看不到结果，努力的意义，在于不断重塑自我",
	}
}

// A digest is as high as its news take, and none of its texts runs out of it.
func TestDigest(t *testing.T) {
	d := sampleDigest()
	heights := map[int]bool{}
	for range 2 {
		b, err := d.PNG()
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		heights[img.Bounds().Dy()] = true
		if img.Bounds().Dx() != digestWidth || len(b) > 200<<10 {
			t.Errorf("%v, %d bytes", img.Bounds(), len(b))
		}
		blank := img.At(digestWidth-2, img.Bounds().Dy()-2)
		for y := digestBand + 1; y < img.Bounds().Dy(); y++ {
			if got := img.At(digestWidth-digestMargin/2, y); got != blank {
				t.Fatalf("a text reaches into the margin at %d", y)
			}
		}
		d.News = append(d.News, "又一条")
	}
	if len(heights) != 2 {
		t.Errorf("one more line of news changes no height: %v", heights)
	}
}

func TestDigestIsBounded(t *testing.T) {
	d := sampleDigest()
	d.News = slices.Repeat([]string{strings.Repeat("长", 10_000)}, 1000)
	b, err := d.PNG()
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil || cfg.Height > digestBand+2*digestMargin+digestNews*(digestLines*digestStep+digestGap)+200 {
		t.Errorf("%d pixels high, %v", cfg.Height, err)
	}
}

func TestWrap(t *testing.T) {
	p := acquired(t)
	for text, want := range map[string]string{
		"":                  "",
		"一二三":               "一二三",
		"一二三四五六":            "一二三四五|六",
		"一二三四五，六":           "一二三四|五，六",
		"一二三四（五）六":          "一二三四|（五）六",
		"一二三（四五）六":          "一二三（四|五）六",
		"一二 abcdefgh 三":     "一二 |abcdefgh |三",
		"增长99.2%以上":         "增长99.2%|以上",
		"abcdefghijklmnopq": "abcdefg…",
		"一二三四 五六":           "一二三四|五六",
	} {
		lines := p.wrap(text, 5000, 9)
		for i, l := range lines {
			lines[i] = strings.TrimSpace(l)
			if w := p.width(regular, lines[i]); w > 5000 || !utf8.ValidString(l) {
				t.Errorf("%q: %q is %d wide", text, l, w)
			}
		}
		if got := strings.Join(lines, "|"); got != strings.ReplaceAll(want, " |", "|") {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := p.wrap(strings.Repeat("长", 100), 5000, 3); len(got) != 3 || !strings.HasSuffix(got[2], "…") {
		t.Errorf("%q", got)
	}
}

// The highest digest takes little more than its pixels, a byte each.
func TestMemoryOfDigests(t *testing.T) {
	d := sampleDigest()
	d.News = slices.Repeat([]string{strings.Repeat("长", 1000)}, digestNews)
	peak := costtest.PeakHeap(func() {
		if _, err := d.PNG(); err != nil {
			t.Error(err)
		}
	})
	if most := uint64(16 << 20); peak > most {
		t.Errorf("%d MiB taken, want at most %d", peak>>20, most>>20)
	}
}
