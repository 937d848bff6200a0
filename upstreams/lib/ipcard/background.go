package ipcard

import (
	"image"
	"image/draw"
	"math"

	"golang.org/x/image/vector"
)

// drawBackground draws the picture that all cards have in common.
func (p *renderer) drawBackground() (*image.Paletted, error) {
	img := image.NewPaletted(image.Rect(0, 0, cardWidth, cardHeight), palette(accent))
	for _, s := range shapes() {
		s.draw(img)
	}
	for _, l := range p.labels() {
		if err := p.draw(img, l); err != nil {
			return nil, err
		}
	}
	return img, nil
}

// shape is an area in one colour.
type shape struct {
	blend blend
	path  func(pathWriter)
}

// shapes of the card, each over a single colour, as blends require: so the part on
// the stripe at the left is separate, up to the end of the corners' curves.
// Neighbours overlap by a pixel, or a seam would be visible when they are scaled.
func shapes() []shape {
	const (
		right, bottom = cardWidth - 1, cardHeight - 1
		split         = radius - 1
	)
	square, round, inset, arc := corner{}, corner{radius, radius}, corner{radius - stripe, radius - 1}, corner{radius - 1, radius - 1}
	return []shape{
		{accentOnClear, roundedRect(0, 0, radius, cardHeight, round, square, square, round)},
		{borderOnClear, roundedRect(split, 0, cardWidth, cardHeight, square, round, round, square)},
		{paperOnAccent, roundedRect(stripe, 1, radius, footerTop+1, inset, square, square, square)},
		{paperOnBorder, roundedRect(split, 1, right, footerTop+1, square, arc, square, square)},
		{footerOnAccent, roundedRect(stripe, footerTop, radius, bottom, square, square, square, inset)},
		{footerOnBorder, roundedRect(split, footerTop, right, bottom, square, square, arc, square)},
		{faintOnPaper, globe},
		{accentOnPaper, pin},
	}
}

func (s shape) draw(img *image.Paletted) {
	z := vector.NewRasterizer(img.Rect.Dx(), img.Rect.Dy())
	z.DrawOp = draw.Src
	s.path(z)
	mask := image.NewAlpha(img.Rect)
	z.Draw(mask, mask.Rect, image.Opaque, image.Point{})
	s.blend.stamp(img, img.Rect, mask)
}

// pin is a map pin: a drop with a hole.
func pin(z pathWriter) {
	const x, y, r, tip = pinX, pinY, 5.5, 9.5
	z.MoveTo(x-r, y)
	quarterArc(z, x-r, y, x-r, y-r, x, y-r)
	quarterArc(z, x, y-r, x+r, y-r, x+r, y)
	z.CubeTo(x+r, y+4, x+2, y+7, x, y+tip)
	z.CubeTo(x-2, y+7, x-r, y+4, x-r, y)
	z.ClosePath()
	ellipse(z, x, y, 2, 2, -1)
}

// globe is a faint globe: its outline and two meridians, each the area between two
// ellipses, then the straight meridian and three lines of latitude.
func globe(z pathWriter) {
	const x, y, r, thin = globeX, globeY, globeR, 1.5
	for _, rx := range [...]float32{r, 0.45 * r} {
		ellipse(z, x, y, rx, r, 1)
		ellipse(z, x, y, rx-thin, r-thin, -1)
	}
	square := corner{}
	roundedRect(x-thin/2, y-r, x+thin/2, y+r, square, square, square, square)(z)
	for _, height := range [...]float32{-0.5, 0, 0.5} {
		half := r * float32(math.Sqrt(float64(1-height*height)))
		roundedRect(x-half, y+height*r-thin/2, x+half, y+height*r+thin/2, square, square, square, square)(z)
	}
}

// pathWriter receives a path: a rasterizer, or a writer of SVG.
type pathWriter interface {
	MoveTo(x, y float32)
	LineTo(x, y float32)
	CubeTo(bx, by, cx, cy, dx, dy float32)
	ClosePath()
}

// corner is the radius of a corner along x and y.
type corner struct{ x, y float32 }

// roundedRect is a rectangle with rounded corners, clockwise from the top left.
func roundedRect(x0, y0, x1, y1 float32, tl, tr, br, bl corner) func(pathWriter) {
	return func(z pathWriter) {
		z.MoveTo(x0+tl.x, y0)
		z.LineTo(x1-tr.x, y0)
		quarterArc(z, x1-tr.x, y0, x1, y0, x1, y0+tr.y)
		z.LineTo(x1, y1-br.y)
		quarterArc(z, x1, y1-br.y, x1, y1, x1-br.x, y1)
		z.LineTo(x0+bl.x, y1)
		quarterArc(z, x0+bl.x, y1, x0, y1, x0, y1-bl.y)
		z.LineTo(x0, y0+tl.y)
		quarterArc(z, x0, y0+tl.y, x0, y0, x0+tl.x, y0)
		z.ClosePath()
	}
}

// arcControl is the position of the control points with which a cubic curve is
// nearly a quarter of a circle: this part of the way from its ends to the corner.
const arcControl = 0.5523

// quarterArc draws a quarter of an ellipse from a, the current point, to b, with
// the corner c; nothing if a and b are the same point.
func quarterArc(z pathWriter, ax, ay, cx, cy, bx, by float32) {
	if ax != bx || ay != by {
		z.CubeTo(ax+arcControl*(cx-ax), ay+arcControl*(cy-ay), bx+arcControl*(cx-bx), by+arcControl*(cy-by), bx, by)
	}
}

// ellipse is drawn clockwise, or with direction -1 counterclockwise, which makes
// it a hole.
func ellipse(z pathWriter, x, y, rx, ry, direction float32) {
	rx *= direction
	z.MoveTo(x-rx, y)
	quarterArc(z, x-rx, y, x-rx, y-ry, x, y-ry)
	quarterArc(z, x, y-ry, x+rx, y-ry, x+rx, y)
	quarterArc(z, x+rx, y, x+rx, y+ry, x, y+ry)
	quarterArc(z, x, y+ry, x-rx, y+ry, x-rx, y)
	z.ClosePath()
}
