package qrcode

import (
	"encoding/hex"
	"errors"
	"fmt"
	"image/color"
	"math"
	"strings"

	"sundry/metrics/words"
)

// Style is how a symbol is drawn.
type Style struct {
	// Color is that of the modules, Background that of the rest. Both may be
	// transparent.
	Color, Background color.NRGBA
	// Margin is the width of the quiet zone in modules. AutoMargin is the four that
	// the standard requires, or two where the size has no room for more.
	Margin int
}

// AutoMargin is the margin that readers need, as far as there is room.
const AutoMargin = -1

// Plain is black on white.
func Plain() Style {
	return Style{Color: color.NRGBA{A: 255}, Background: color.NRGBA{255, 255, 255, 255}, Margin: AutoMargin}
}

// minContrast is the least ratio of luminances (WCAG 2) that cameras tell apart in
// ordinary light.
const minContrast = 3

// Check returns an error if readers cannot tell the modules from the background,
// seen on white paper.
func (s Style) Check() error {
	a, b := luminance(s.Color), luminance(s.Background)
	if ratio := (math.Max(a, b) + 0.05) / (math.Min(a, b) + 0.05); ratio < minContrast {
		return words.Errorf("colors are too similar: contrast %.1f:1, expected at least %d:1, for example color=1e40af on background=ffffff",
			"前景色与背景色太接近：对比度为 %.1f:1，应不低于 %d:1，例如 color=1e40af、background=ffffff", ratio, minContrast)
	}
	return nil
}

// luminance is the relative luminance of a colour on white, 0 to 1.
func luminance(c color.NRGBA) float64 {
	linear := func(v uint8) float64 {
		f := (float64(v)*float64(c.A) + 255*float64(255-c.A)) / 255 / 255
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

// css writes a colour as SVG does.
func css(c color.NRGBA) string {
	if c.A == 255 {
		return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
	}
	return fmt.Sprintf("#%02x%02x%02x%02x", c.R, c.G, c.B, c.A)
}

var errColor = words.Because(errors.New("not a color"), "is not a color", "不是颜色")

// ParseColor reads three, four, six or eight hexadecimal digits, RGB or RGBA, with
// or without # before them.
func ParseColor(text string) (color.NRGBA, error) {
	digits := strings.TrimPrefix(text, "#")
	if len(digits) == 3 || len(digits) == 4 {
		var b strings.Builder
		for _, d := range digits {
			b.WriteRune(d)
			b.WriteRune(d)
		}
		digits = b.String()
	}
	if len(digits) == 6 {
		digits += "ff"
	}
	b, err := hex.DecodeString(digits)
	if err != nil || len(b) != 4 {
		return color.NRGBA{}, errColor
	}
	return color.NRGBA{b[0], b[1], b[2], b[3]}, nil
}

// CanonicalColor writes a colour that ParseColor reads as eight digits.
func CanonicalColor(text string) (string, error) {
	c, err := ParseColor(text)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%02x%02x%02x%02x", c.R, c.G, c.B, c.A), nil
}
