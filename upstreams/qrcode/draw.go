package qrcode

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
)

// quiet is the white margin that the standard asks for, in modules.
const quiet = 4

// layout says where modules lie in a picture of a size: whole pixels each, the
// rest of the size as an even margin around.
func (c *Code) layout(size int) (scale, margin int, err error) {
	least := c.Modules() + 2*quiet
	if size < least {
		return 0, 0, &TooSmallError{Min: least}
	}
	scale = size / least
	return scale, (size - scale*c.Modules()) / 2, nil
}

// PNG draws the symbol in black on white, size by size pixels, one bit each.
// The error is a *TooSmallError when it does not fit. Drawing takes size² bytes
// for the moment, and there is no upper bound: the caller sets one.
func (c *Code) PNG(size int) ([]byte, error) {
	scale, margin, err := c.layout(size)
	if err != nil {
		return nil, err
	}
	img := image.NewPaletted(image.Rect(0, 0, size, size), color.Palette{color.White, color.Black})
	for y := range c.Modules() {
		first := img.Pix[(margin+y*scale)*img.Stride:][:img.Stride]
		c.paint(first[margin:], y, scale)
		for i := 1; i < scale; i++ {
			copy(img.Pix[(margin+y*scale+i)*img.Stride:], first)
		}
	}
	var b bytes.Buffer
	// Runs of two colours: better compression would save little and take longer.
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
		return nil, fmt.Errorf("write a picture of %d pixels: %w", size, err)
	}
	return b.Bytes(), nil
}

// paint sets the black pixels of one line of a row of modules.
func (c *Code) paint(line []byte, y, scale int) {
	for x := range c.Modules() {
		if !c.code.Black(x, y) {
			continue
		}
		for i := range scale {
			line[x*scale+i] = 1
		}
	}
}

// SVG draws the symbol as one path, in units of modules, shown size by size
// pixels. The error is a *TooSmallError when it does not fit.
func (c *Code) SVG(size int) ([]byte, error) {
	if _, _, err := c.layout(size); err != nil {
		return nil, err
	}
	width := c.Modules() + 2*quiet
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
		fmt.Fprintf(b, "M%d %dh%dv1h-%dz", from+quiet, y+quiet, x-from, x-from)
	}
}
