package qrcode

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"sync"
)

// quietZone is the white margin that the standard requires, in modules.
const quietZone = 4

// layout is the position of the modules in a picture of a size: whole pixels each,
// and the rest of the size as an equal margin on all sides.
func (c *Code) layout(size int) (scale, margin int, err error) {
	least := c.Modules() + 2*quietZone
	if size < least {
		return 0, 0, &TooSmallError{Min: least}
	}
	scale = size / least
	return scale, (size - scale*c.Modules()) / 2, nil
}

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

// PNG draws the symbol in black on white, size by size pixels, one bit each.
// The error is a *TooSmallError when it does not fit. Drawing takes memory
// per line, but time per pixel: the caller must bound the size.
func (p *Painter) PNG(c *Code, size int) ([]byte, error) {
	scale, margin, err := c.layout(size)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	// With runs of two colours, better compression would save little and be slower.
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: p}).Encode(&b, newPicture(c, size, scale, margin)); err != nil {
		return nil, fmt.Errorf("write a picture of %d pixels: %w", size, err)
	}
	return b.Bytes(), nil
}

// picture is the symbol as an image whose pixels are computed on demand.
type picture struct {
	code   *Code
	size   int
	module []int16 // of each column, and likewise of each line; -1 for the margin
}

func newPicture(c *Code, size, scale, margin int) *picture {
	p := &picture{code: c, size: size, module: make([]int16, size)}
	for i := range p.module {
		p.module[i] = -1
		if at := i - margin; at >= 0 && at < scale*c.Modules() {
			p.module[i] = int16(at / scale)
		}
	}
	return p
}

// ColorModel implements image.Image.
func (p *picture) ColorModel() color.Model { return color.Palette{color.White, color.Black} }

// Bounds implements image.Image.
func (p *picture) Bounds() image.Rectangle { return image.Rect(0, 0, p.size, p.size) }

// At implements image.Image.
func (p *picture) At(x, y int) color.Color {
	if p.ColorIndexAt(x, y) == 1 {
		return color.Black
	}
	return color.White
}

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
func (c *Code) SVG(size int) ([]byte, error) {
	if _, _, err := c.layout(size); err != nil {
		return nil, err
	}
	width := c.Modules() + 2*quietZone
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h%dv%dH0z"/><path d="`,
		size, size, width, width, width, width)
	for y := range c.Modules() {
		c.row(&b, y)
	}
	b.WriteString(`"/></svg>`)
	return b.Bytes(), nil
}

// row writes the runs of black modules of one row.
func (c *Code) row(b *bytes.Buffer, y int) {
	for x := 0; x < c.Modules(); x++ {
		if !c.code.Black(x, y) {
			continue
		}
		from := x
		for x < c.Modules() && c.code.Black(x, y) {
			x++
		}
		fmt.Fprintf(b, "M%d %dh%dv1h-%dz", from+quietZone, y+quietZone, x-from, x-from)
	}
}
