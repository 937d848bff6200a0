package favicon

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// Letter draws an icon in place of one: the first letter of a host, in white on a
// colour of its own, as a PNG of size by size pixels. The same host has always the
// same one.
func Letter(host string, size int) ([]byte, error) {
	if size < 1 {
		return nil, fmt.Errorf("draw a letter of %d pixels: expected at least 1", size)
	}
	parsed, err := opentype.Parse(gobold.TTF)
	if err != nil {
		return nil, fmt.Errorf("parse the font of letters: %w", err)
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: 0.62 * float64(size), DPI: 72})
	if err != nil {
		return nil, fmt.Errorf("font of letters at %d pixels: %w", size, err)
	}
	defer func() { _ = face.Close() }()
	img := image.NewRGBA(image.Rect(0, 0, size, size))
	draw.Draw(img, img.Bounds(), image.NewUniform(colorOf(host)), image.Point{}, draw.Src)
	text := firstLetter(host)
	bounds, _ := font.BoundString(face, text)
	d := font.Drawer{Dst: img, Src: image.White, Face: face, Dot: middle(bounds, size)}
	d.DrawString(text)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return nil, fmt.Errorf("write a letter of %d pixels: %w", size, err)
	}
	return b.Bytes(), nil
}

// middle is where a text begins whose bounds are to be in the middle.
func middle(r fixed.Rectangle26_6, size int) fixed.Point26_6 {
	center := fixed.I(size)
	return fixed.Point26_6{X: (center - r.Min.X - r.Max.X) / 2, Y: (center - r.Min.Y - r.Max.Y) / 2}
}

// firstLetter is the first letter or digit of a host without www, as a capital.
// Of a name in punycode that is one of its readable part, if it has one.
func firstLetter(host string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(host), "www."), "xn--")
	for _, r := range name {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return strings.ToUpper(string(r))
		}
	}
	return "?"
}

// colorOf is a colour by the hash of a host: any hue, dark enough for white letters.
func colorOf(host string) color.RGBA {
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.TrimPrefix(strings.ToLower(host), "www."))) // a hash takes everything
	return hsl(float64(h.Sum32()%360), 0.5, 0.36)
}

// hsl is the colour of a hue in degrees, a saturation and a lightness.
func hsl(hue, saturation, lightness float64) color.RGBA {
	chroma := saturation * math.Min(lightness, 1-lightness)
	channel := func(n float64) uint8 {
		k := math.Mod(n+hue/30, 12)
		return uint8(math.Round(255 * (lightness - chroma*math.Max(-1, math.Min(math.Min(k-3, 9-k), 1)))))
	}
	return color.RGBA{channel(0), channel(8), channel(4), 255}
}
