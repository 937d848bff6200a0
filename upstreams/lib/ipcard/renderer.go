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

// The fonts are made by make-font.sh, under the licence in OFL.txt. Their name
// records state it too, so that it is part of the program that embeds them.
var (
	//go:embed sundry-cjk.otf
	regularFont []byte
	//go:embed sundry-digits.otf
	boldFont []byte
)

// weight selects a font: regular is for all texts, bold for addresses only.
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

// face is the font at a size. Sizes are few, so that a renderer caches its faces.
func (p *renderer) face(s style) (font.Face, error) {
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

// has reports whether the regular font has a character.
func (p *renderer) has(r rune) bool {
	i, err := p.fonts[regular].GlyphIndex(&p.glyphs, r)
	return err == nil && i != 0
}

// advance is a character's width in thousandths of the size. One that the font
// lacks, and that a viewer's own font may have, counts as a wide one.
func (p *renderer) advance(w weight, r rune) int {
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
func (p *renderer) width(w weight, s string) int {
	n := 0
	for _, r := range s {
		n += p.advance(w, r)
	}
	return n
}

// cut shortens a text so that, with "…", it is at most limit thousandths of
// the size wide.
func (p *renderer) cut(w weight, s string, limit int) string {
	const ellipsis = "…"
	limit -= p.width(w, ellipsis)
	for i, r := range s {
		if limit -= p.advance(w, r); limit < 0 {
			return strings.TrimRight(s[:i], " ·") + ellipsis
		}
	}
	return s
}

// renderer measures and draws texts, for one goroutine at a time. It caches what is
// costly to make: faces, and the buffers for glyphs and PNG.
type renderer struct {
	fonts      [weights]*sfnt.Font
	background *image.Paletted
	faces      map[style]font.Face
	glyphs     sfnt.Buffer
	buffer     *png.EncoderBuffer
}

// renderers is made at the first call, with the fonts and the background that all
// renderers share and do not change.
var renderers = sync.OnceValues(func() (*sync.Pool, error) {
	fonts, err := parseFonts()
	if err != nil {
		return nil, err
	}
	p := &renderer{fonts: fonts, faces: map[style]font.Face{}}
	background, err := p.drawBackground()
	if err != nil {
		return nil, err
	}
	return &sync.Pool{New: func() any {
		return &renderer{fonts: fonts, background: background, faces: map[style]font.Face{}}
	}}, nil
})

// render draws a picture with a renderer.
func render(draw func(*renderer) ([]byte, error)) ([]byte, error) {
	pool, err := renderers()
	if err != nil {
		return nil, fmt.Errorf("prepare to draw cards: %w", err)
	}
	p := pool.Get().(*renderer)
	defer pool.Put(p)
	return draw(p)
}

// Get implements png.EncoderBufferPool; nil makes the encoder make one.
func (p *renderer) Get() *png.EncoderBuffer { return p.buffer }

// Put implements png.EncoderBufferPool.
func (p *renderer) Put(b *png.EncoderBuffer) { p.buffer = b }
