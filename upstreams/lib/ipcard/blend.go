package ipcard

import (
	"image"
	"image/color"
)

// The card is light, with its own border, so that it is equally readable on light
// and on dark pages. Texts have a contrast of at least 4.5 to 1.
var (
	border = color.NRGBA{0xc9, 0xd3, 0xdf, 0xff}
	paper  = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	footer = color.NRGBA{0xf3, 0xf6, 0xfa, 0xff}
	faint  = color.NRGBA{0xe9, 0xf3, 0xf1, 0xff}
	accent = color.NRGBA{0x0f, 0x76, 0x6e, 0xff}
	alarm  = color.NRGBA{0xb4, 0x23, 0x18, 0xff} // the accent of what tells of trouble
	ink    = color.NRGBA{0x15, 0x1f, 0x2e, 0xff}
	soft   = color.NRGBA{0x3d, 0x4b, 0x5e, 0xff}
	muted  = color.NRGBA{0x64, 0x72, 0x85, 0xff}
)

// blend names a pair of colours: one drawn over another. The palette holds
// levels steps of each, from almost none of the upper colour to all of it.
type blend uint8

const (
	accentOnClear blend = iota
	borderOnClear
	paperOnAccent
	paperOnBorder
	footerOnAccent
	footerOnBorder
	faintOnPaper
	accentOnPaper
	inkOnPaper
	softOnPaper
	mutedOnPaper
	inkOnFooter
	mutedOnFooter
	blends
)

const levels = 18

// colours are the pair in a picture with this accent, the lower colour first.
func (b blend) colours(accent color.NRGBA) (lower, upper color.NRGBA) {
	pair := [blends][2]color.NRGBA{
		accentOnClear: {faded(accent), accent}, borderOnClear: {faded(border), border},
		paperOnAccent: {accent, paper}, paperOnBorder: {border, paper},
		footerOnAccent: {accent, footer}, footerOnBorder: {border, footer},
		faintOnPaper: {paper, faint}, accentOnPaper: {paper, accent},
		inkOnPaper: {paper, ink}, softOnPaper: {paper, soft}, mutedOnPaper: {paper, muted},
		inkOnFooter: {footer, ink}, mutedOnFooter: {footer, muted},
	}[b]
	return pair[0], pair[1]
}

// faded is a fully transparent colour of the same hue, for antialiased edges.
func faded(c color.NRGBA) color.NRGBA {
	c.A = 0
	return c
}

// palette is the transparent colour, then the steps of every blend.
func palette(accent color.NRGBA) color.Palette {
	p := color.Palette{color.NRGBA{}}
	for b := range blends {
		lower, upper := b.colours(accent)
		for i := 1; i <= levels; i++ {
			p = append(p, mix(lower, upper, i))
		}
	}
	return p
}

func mix(lower, upper color.NRGBA, step int) color.NRGBA {
	part := func(a, b uint8) uint8 { return uint8((int(a)*(levels-step) + int(b)*step + levels/2) / levels) }
	return color.NRGBA{part(lower.R, upper.R), part(lower.G, upper.G), part(lower.B, upper.B), part(lower.A, upper.A)}
}

// fill draws a rectangle, without the mask of a shape: a high one would be large.
func (b blend) fill(img *image.Paletted, r image.Rectangle) {
	full := uint8(int(b)*levels + levels)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := img.Pix[img.PixOffset(r.Min.X, y):][:r.Dx()]
		for x := range row {
			row[x] = full
		}
	}
}

// stamp draws a mask with its origin moved to the point at. Where the same
// blend has been drawn already, as where letters touch, the stronger step remains.
func (b blend) stamp(img *image.Paletted, at image.Rectangle, mask *image.Alpha) {
	first := 1 + int(b)*levels
	r := at.Intersect(img.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		to := img.Pix[img.PixOffset(r.Min.X, y):][:r.Dx()]
		from := mask.Pix[mask.PixOffset(mask.Rect.Min.X+r.Min.X-at.Min.X, mask.Rect.Min.Y+y-at.Min.Y):]
		for x := range to {
			step := (int(from[x])*levels + 127) / 255
			old := int(to[x]) - first
			if step == 0 || 0 <= old && old < levels && old >= step-1 {
				continue
			}
			to[x] = uint8(first + step - 1)
		}
	}
}
