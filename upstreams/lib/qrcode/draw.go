package qrcode

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"sync"
)

const (
	// quietZone is the margin that the standard requires, in modules; narrowZone is
	// what readers do with.
	quietZone  = 4
	narrowZone = 2
	// minScale is the least width of a module in pixels: cameras and readers of
	// screens do not resolve single ones.
	minScale = 2
	// defaultSize is the width of a picture in pixels.
	defaultSize = 300
)

// layout is the position of the modules in a picture.
type layout struct {
	scale  int // pixels per module
	offset int // of the first module, in pixels
	margin int // in modules, at least
}

// layout places the modules in a picture of a size: whole pixels each, and the rest
// of the size as an equal margin on all sides.
func (c *Code) layout(size, margin int) (layout, error) {
	if margin < 0 {
		if margin = quietZone; size < c.least(margin) {
			margin = narrowZone
		}
	}
	if least := c.least(margin); size < least {
		return layout{}, &TooSmallError{Min: least}
	}
	scale := size / (c.Modules() + 2*margin)
	return layout{scale: scale, offset: (size - scale*c.Modules()) / 2, margin: margin}, nil
}

// Size is how large a picture of a style is that nobody gave a size for: 300 pixels,
// or what readers need where that is more.
func (c *Code) Size(s Style) int {
	margin := s.Margin
	if margin < 0 {
		margin = quietZone
	}
	return max(defaultSize, c.least(margin))
}

// least is the least size at which readers resolve the modules, in pixels.
func (c *Code) least(margin int) int { return minScale * (c.Modules() + 2*margin) }

// Painter draws pictures, and reuses the buffers of their compression. The zero
// value is ready to use; it is safe for concurrent use.
type Painter struct{ buffers sync.Pool }

// Get implements png.EncoderBufferPool.
func (p *Painter) Get() *png.EncoderBuffer {
	b, _ := p.buffers.Get().(*png.EncoderBuffer)
	return b // nil: the encoder makes one
}

// Put implements png.EncoderBufferPool.
func (p *Painter) Put(b *png.EncoderBuffer) { p.buffers.Put(b) }

// PNG draws the symbol in two colours, size by size pixels, one bit each.
// The error is a *TooSmallError when it does not fit. Drawing takes memory
// per line, but time per pixel: the caller must bound the size.
func (p *Painter) PNG(c *Code, size int, s Style) ([]byte, error) {
	at, err := c.layout(size, s.Margin)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	// With runs of two colours, better compression would save little and be slower.
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: p}).Encode(&b, newPicture(c, size, at, s)); err != nil {
		return nil, fmt.Errorf("write a picture of %d pixels: %w", size, err)
	}
	return b.Bytes(), nil
}

// picture is the symbol as an image whose pixels are computed on demand.
type picture struct {
	code    *Code
	size    int
	palette color.Palette // background, modules
	module  []int16       // of each column, and likewise of each line; -1 for the margin
}

func newPicture(c *Code, size int, l layout, s Style) *picture {
	p := &picture{code: c, size: size, palette: color.Palette{s.Background, s.Color}, module: make([]int16, size)}
	for i := range p.module {
		p.module[i] = -1
		if at := i - l.offset; at >= 0 && at < l.scale*c.Modules() {
			p.module[i] = int16(at / l.scale)
		}
	}
	return p
}

// ColorModel implements image.Image.
func (p *picture) ColorModel() color.Model { return p.palette }

// Bounds implements image.Image.
func (p *picture) Bounds() image.Rectangle { return image.Rect(0, 0, p.size, p.size) }

// At implements image.Image.
func (p *picture) At(x, y int) color.Color { return p.palette[p.ColorIndexAt(x, y)] }

// ColorIndexAt implements image.PalettedImage.
func (p *picture) ColorIndexAt(x, y int) uint8 {
	mx, my := p.module[x], p.module[y]
	if mx < 0 || my < 0 || !p.code.code.Black(int(mx), int(my)) {
		return 0
	}
	return 1
}

// SVG draws the symbol as one path, in units of modules, shown size by size
// pixels. The error is a *TooSmallError when it does not fit.
func (c *Code) SVG(size int, s Style) ([]byte, error) {
	at, err := c.layout(size, s.Margin)
	if err != nil {
		return nil, err
	}
	width := c.Modules() + 2*at.margin
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" shape-rendering="crispEdges"><path fill="%s" d="M0 0h%dv%dH0z"/><path fill="%s" d="`,
		size, size, width, width, css(s.Background), width, width, css(s.Color))
	for y := range c.Modules() {
		c.row(&b, y, at.margin)
	}
	b.WriteString(`"/></svg>`)
	return b.Bytes(), nil
}

// row writes the runs of black modules of one row.
func (c *Code) row(b *bytes.Buffer, y, margin int) {
	for x := 0; x < c.Modules(); x++ {
		if !c.code.Black(x, y) {
			continue
		}
		from := x
		for x < c.Modules() && c.code.Black(x, y) {
			x++
		}
		fmt.Fprintf(b, "M%d %dh%dv1h-%dz", from+margin, y+margin, x-from, x-from)
	}
}
