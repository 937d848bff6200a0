package ipcard

import (
	_ "embed" // the fonts
	"fmt"
	"image"
	"image/png"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// The fonts are made by make-font.sh, under the licence in OFL.txt, which their
// own name records state too: so a program that embeds them carries it.
var (
	//go:embed sundry-cjk.otf
	regularFont []byte
	//go:embed sundry-digits.otf
	boldFont []byte
)

// weight chooses a font: regular has every text, bold only addresses.
type weight uint8

const (
	regular weight = iota
	bold
	weights
)

// style is a weight at a size in pixels.
type style struct {
	weight weight
	size   int
}

func parseFonts() (fonts [weights]*sfnt.Font, err error) {
	for w, b := range [weights][]byte{regularFont, boldFont} {
		if fonts[w], err = opentype.Parse(b); err != nil {
			return fonts, fmt.Errorf("parse font %d of the card: %w", w, err)
		}
	}
	return fonts, nil
}

// face is the font at a size. Sizes are few, so that a pen keeps its faces.
func (p *pen) face(s style) (font.Face, error) {
	if f, ok := p.faces[s]; ok {
		return f, nil
	}
	f, err := opentype.NewFace(p.fonts[s.weight], &opentype.FaceOptions{Size: float64(s.size), DPI: 72})
	if err != nil {
		return nil, fmt.Errorf("font %d of the card at %d pixels: %w", s.weight, s.size, err)
	}
	p.faces[s] = f
	return f, nil
}

// has tells whether the regular font can draw a character.
func (p *pen) has(r rune) bool {
	i, err := p.fonts[regular].GlyphIndex(&p.glyphs, r)
	return err == nil && i != 0
}

// advance is a character's width in thousandths of the size. One that the font
// lacks, and that a reader's own font may have, counts as a wide one.
func (p *pen) advance(w weight, r rune) int {
	const em = 1000
	i, err := p.fonts[w].GlyphIndex(&p.glyphs, r)
	if err != nil || i == 0 {
		return em
	}
	a, err := p.fonts[w].GlyphAdvance(&p.glyphs, i, fixed.I(em), font.HintingNone)
	if err != nil {
		return em
	}
	return a.Ceil()
}

// width is a text's width in thousandths of the size.
func (p *pen) width(w weight, s string) int {
	n := 0
	for _, r := range s {
		n += p.advance(w, r)
	}
	return n
}

// cut shortens a text so that, with "…", it is at most limit thousandths of
// the size wide.
func (p *pen) cut(w weight, s string, limit int) string {
	const ellipsis = "…"
	limit -= p.width(w, ellipsis)
	for i, r := range s {
		if limit -= p.advance(w, r); limit < 0 {
			return strings.TrimRight(s[:i], " ·") + ellipsis
		}
	}
	return s
}

// pen measures, draws and writes, for one goroutine at a time. It keeps what is
// costly to make: faces, and memory to read glyphs and to write PNG.
type pen struct {
	fonts  [weights]*sfnt.Font
	ground *image.Paletted
	faces  map[style]font.Face
	glyphs sfnt.Buffer
	buffer *png.EncoderBuffer
}

// pens are made at the first call, with the fonts and the ground that they
// share, and change neither.
var pens = sync.OnceValues(func() (*sync.Pool, error) {
	fonts, err := parseFonts()
	if err != nil {
		return nil, err
	}
	p := &pen{fonts: fonts, faces: map[style]font.Face{}}
	ground, err := p.drawGround()
	if err != nil {
		return nil, err
	}
	return &sync.Pool{New: func() any {
		return &pen{fonts: fonts, ground: ground, faces: map[style]font.Face{}}
	}}, nil
})

// lend gives a pen, and the function that takes it back.
func lend() (*pen, func(), error) {
	pool, err := pens()
	if err != nil {
		return nil, nil, fmt.Errorf("prepare to draw cards: %w", err)
	}
	p := pool.Get().(*pen)
	return p, func() { pool.Put(p) }, nil
}

// Get implements png.EncoderBufferPool; nil makes the encoder make one.
func (p *pen) Get() *png.EncoderBuffer { return p.buffer }

// Put implements png.EncoderBufferPool.
func (p *pen) Put(b *png.EncoderBuffer) { p.buffer = b }
