package ipcard

import (
	"image"
	"image/draw"
	"math"

	"golang.org/x/image/vector"
)

// drawGround draws the picture that all cards begin with.
func (p *pen) drawGround() (*image.Paletted, error) {
	img := image.NewPaletted(image.Rect(0, 0, cardWidth, cardHeight), palette())
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
	path  func(outline)
}

// shapes of the card, each on one colour alone, as blends ask for: so what lies
// on the stripe, at the left, is parted from the rest where the corners' curves
// end. Neighbours overlap by a pixel, or a seam would show where they are
// scaled.
func shapes() []shape {
	const (
		right, bottom = cardWidth - 1, cardHeight - 1
		part          = radius - 1
	)
	none, round, curb, arc := corner{}, corner{radius, radius}, corner{radius - stripe, radius - 1}, corner{radius - 1, radius - 1}
	return []shape{
		{accentOnClear, panel(0, 0, radius, cardHeight, round, none, none, round)},
		{borderOnClear, panel(part, 0, cardWidth, cardHeight, none, round, round, none)},
		{paperOnAccent, panel(stripe, 1, radius, footTop+1, curb, none, none, none)},
		{paperOnBorder, panel(part, 1, right, footTop+1, none, arc, none, none)},
		{footOnAccent, panel(stripe, footTop, radius, bottom, none, none, none, curb)},
		{footOnBorder, panel(part, footTop, right, bottom, none, none, arc, none)},
		{traceOnPaper, globe},
		{accentOnPaper, pin},
	}
}

func (s shape) draw(img *image.Paletted) {
	z := vector.NewRasterizer(cardWidth, cardHeight)
	z.DrawOp = draw.Src
	s.path(z)
	mask := image.NewAlpha(img.Rect)
	z.Draw(mask, mask.Rect, image.Opaque, image.Point{})
	s.blend.stamp(img, img.Rect, mask)
}

// pin is the mark of a place: a drop with a hole.
func pin(z outline) {
	const x, y, r, tip = pinX, pinY, 5.5, 9.5
	z.MoveTo(x-r, y)
	turn(z, x-r, y, x-r, y-r, x, y-r)
	turn(z, x, y-r, x+r, y-r, x+r, y)
	z.CubeTo(x+r, y+4, x+2, y+7, x, y+tip)
	z.CubeTo(x-2, y+7, x-r, y+4, x-r, y)
	z.ClosePath()
	oval(z, x, y, 2, 2, -1)
}

// globe is a faint sphere: its outline and two meridians, each the area between
// two ovals, then the straight meridian and three lines of latitude.
func globe(z outline) {
	const x, y, r, thin = globeX, globeY, globeR, 1.5
	for _, rx := range [...]float32{r, 0.45 * r} {
		oval(z, x, y, rx, r, 1)
		oval(z, x, y, rx-thin, r-thin, -1)
	}
	none := corner{}
	panel(x-thin/2, y-r, x+thin/2, y+r, none, none, none, none)(z)
	for _, height := range [...]float32{-0.5, 0, 0.5} {
		half := r * float32(math.Sqrt(float64(1-height*height)))
		panel(x-half, y+height*r-thin/2, x+half, y+height*r+thin/2, none, none, none, none)(z)
	}
}

// outline is what a path is told to: a rasterizer, or a writer of SVG.
type outline interface {
	MoveTo(x, y float32)
	LineTo(x, y float32)
	CubeTo(bx, by, cx, cy, dx, dy float32)
	ClosePath()
}

// corner is how far a corner's curve reaches along x and y.
type corner struct{ x, y float32 }

// panel is a rectangle with curved corners, clockwise from the top left.
func panel(x0, y0, x1, y1 float32, tl, tr, br, bl corner) func(outline) {
	return func(z outline) {
		z.MoveTo(x0+tl.x, y0)
		z.LineTo(x1-tr.x, y0)
		turn(z, x1-tr.x, y0, x1, y0, x1, y0+tr.y)
		z.LineTo(x1, y1-br.y)
		turn(z, x1, y1-br.y, x1, y1, x1-br.x, y1)
		z.LineTo(x0+bl.x, y1)
		turn(z, x0+bl.x, y1, x0, y1, x0, y1-bl.y)
		z.LineTo(x0, y0+tl.y)
		turn(z, x0, y0+tl.y, x0, y0, x0+tl.x, y0)
		z.ClosePath()
	}
}

// bend is where the control points lie that make a cubic curve nearly a
// quarter of a circle: this part of the way from its ends to the corner.
const bend = 0.5523

// turn draws a quarter of an ellipse from a, where the pen is, to b, within
// the corner c; nothing where all are one point.
func turn(z outline, ax, ay, cx, cy, bx, by float32) {
	if ax != bx || ay != by {
		z.CubeTo(ax+bend*(cx-ax), ay+bend*(cy-ay), bx+bend*(cx-bx), by+bend*(cy-by), bx, by)
	}
}

// oval is an ellipse, clockwise, or with direction -1 the other way, which
// makes it a hole.
func oval(z outline, x, y, rx, ry, direction float32) {
	rx *= direction
	z.MoveTo(x-rx, y)
	turn(z, x-rx, y, x-rx, y-ry, x, y-ry)
	turn(z, x, y-ry, x+rx, y-ry, x+rx, y)
	turn(z, x+rx, y, x+rx, y+ry, x, y+ry)
	turn(z, x, y+ry, x-rx, y+ry, x-rx, y)
	z.ClosePath()
}
