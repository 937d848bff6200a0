package qrcode

import (
	"image/color"
	"strings"
	"testing"
)

func TestContrast(t *testing.T) {
	white, black := color.NRGBA{255, 255, 255, 255}, color.NRGBA{A: 255}
	for name, r := range map[string]struct {
		style Style
		ok    bool
	}{
		"plain":                {Plain(), true},
		"inverted":             {Style{Color: white, Background: black}, true},
		"red on white":         {Style{Color: color.NRGBA{255, 0, 0, 255}, Background: white}, true},
		"yellow on white":      {Style{Color: color.NRGBA{255, 255, 0, 255}, Background: white}, false},
		"same":                 {Style{Color: black, Background: black}, false},
		"faint":                {Style{Color: color.NRGBA{0, 0, 0, 40}, Background: white}, false},
		"black on transparent": {Style{Color: black, Background: color.NRGBA{0, 0, 0, 0}}, true},
		"white on transparent": {Style{Color: white, Background: color.NRGBA{0, 0, 0, 0}}, false},
	} {
		if err := r.style.Check(); (err == nil) != r.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestColoursOfSVG(t *testing.T) {
	b, err := encoded(t, "x").SVG(100, Style{Color: color.NRGBA{1, 2, 3, 255}, Background: color.NRGBA{255, 255, 255, 0}, Margin: 0})
	if err != nil || !strings.Contains(string(b), `fill="#010203"`) || !strings.Contains(string(b), `fill="#ffffff00"`) || !strings.Contains(string(b), `viewBox="0 0 21 21"`) {
		t.Errorf("%s %v", b, err)
	}
}

// What a terminal shows in light and dark blocks are the modules.
func TestText(t *testing.T) {
	c := encoded(t, "text")
	rows := strings.Split(c.Text(), "\n")
	if len(rows) != (c.Modules()+4+1)/2 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, row := range rows {
		cells := []rune(row)
		if len(cells) != c.Modules()+4 {
			t.Fatalf("row %d has %d cells", i, len(cells))
		}
		for j, cell := range cells {
			for half, light := range []bool{strings.ContainsRune("█▀", cell), strings.ContainsRune("█▄", cell)} {
				x, y := j-2, 2*i-2+half
				dark := x >= 0 && y >= 0 && x < c.Modules() && y < c.Modules() && c.code.Black(x, y)
				if light == dark {
					t.Fatalf("module %d,%d: %c", x, y, cell)
				}
			}
		}
	}
}

func TestParseColor(t *testing.T) {
	for in, want := range map[string]string{
		"000": "000000ff", "#1E40af": "1e40afff", "1e40af80": "1e40af80", "#f00c": "ff0000cc", "ABCDEF": "abcdefff",
		"": "", "red": "", "12": "", "12345": "", "#": "", "##fff": "", "ggg": "", "1234567890": "", "中中": "",
	} {
		got, err := CanonicalColor(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q %v, want %q", in, got, err, want)
		}
	}
}
