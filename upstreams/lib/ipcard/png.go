package ipcard

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"slices"

	"golang.org/x/image/math/fixed"
)

// PNG draws the card, 480 by 200 pixels with transparent corners, in a palette
// of at most 256 colours: some 8 KB. Characters that the fonts lack are
// written plainly (ł as l) or as "?", and emoji are dropped.
func (c *Card) PNG() ([]byte, error) {
	return render(func(p *renderer) ([]byte, error) {
		return p.png("card", p.card(), p.lines(c.texts(p.legible)))
	})
}

// card is a copy of the background of cards.
func (p *renderer) card() *image.Paletted {
	img := *p.background
	img.Pix = slices.Clone(p.background.Pix)
	return &img
}

// png draws the lines on a picture of something, and encodes it.
func (p *renderer) png(what string, img *image.Paletted, lines []line) ([]byte, error) {
	for _, l := range lines {
		if err := p.draw(img, l); err != nil {
			return nil, fmt.Errorf("draw a %s: %w", what, err)
		}
	}
	var b bytes.Buffer
	if err := (&png.Encoder{BufferPool: p}).Encode(&b, img); err != nil {
		return nil, fmt.Errorf("write a %s: %w", what, err)
	}
	return b.Bytes(), nil
}

// draw draws a line's text on a picture.
func (p *renderer) draw(img *image.Paletted, l line) error {
	face, err := p.face(l.style)
	if err != nil {
		return err
	}
	dot := fixed.P(l.x, l.y)
	for _, r := range l.text {
		at, mask, from, advance, ok := face.Glyph(dot, r)
		alpha, isAlpha := mask.(*image.Alpha)
		if !ok || !isAlpha {
			return fmt.Errorf("draw %q at %d pixels: the font has no such glyph", r, l.style.size)
		}
		l.blend.stamp(img, at, alpha.SubImage(image.Rectangle{from, from.Add(at.Size())}).(*image.Alpha))
		dot.X += advance
	}
	return nil
}
