package ipcard

import (
	"fmt"
	"image"
	"image/png"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
)

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
