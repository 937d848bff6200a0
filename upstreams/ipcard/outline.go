package ipcard

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
