package ipcard

import (
	"bytes"
	"image/png"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestNoticesKeepTheExample whole, and cut what is before it.
func TestNoticesKeepTheExample(t *testing.T) {
	for name, n := range map[string]*Notice{
		"long":  {About: "expected one of " + strings.Repeat("Bilibili, ", 30), Example: ", for example url=https://www.douyin.com/video/7000000000000000001"},
		"short": {About: "expected a number", Example: ", for example n=7"},
	} {
		svg, err := n.SVG()
		if err != nil {
			t.Fatal(err)
		}
		text := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(strings.TrimSpace(string(svg)), "")
		text, example := strings.Join(strings.Fields(text), ""), strings.ReplaceAll(strings.Trim(n.Example, ", "), " ", "")
		if !strings.HasSuffix(text, example) || strings.Contains(text, "…") != (name == "long") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestNoticesGrow with what they say, of which the rest is cut.
func TestNoticesGrow(t *testing.T) {
	for words, want := range map[int]int{1: 120, 8: 120, 12: 139, 16: 158, 99: 158} {
		n := &Notice{Title: "Title", About: strings.Repeat("expected ", words), Note: "400", Language: "en"}
		b, err := n.PNG()
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil || img.Bounds().Dx() != 360 || img.Bounds().Dy() != want {
			t.Errorf("%d words: %v, want a height of %d (%v)", words, img.Bounds(), want, err)
		}
		svg, err := n.SVG()
		if err != nil {
			t.Fatal(err)
		}
		if _, high, _ := strings.Cut(string(svg), ` height="`); !strings.HasPrefix(high, strconv.Itoa(want)) {
			t.Errorf("%d words: the SVG is not as high: %.120s", words, svg)
		}
	}
}
