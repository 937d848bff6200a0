package kinds

import (
	"context"

	"sundry/upstreams"
	"sundry/upstreams/host"
)

// drawing is what the kinds that draw have in common: the format of the picture,
// and a slot while it is drawn.
type drawing struct {
	svg  bool // else PNG
	work *host.Work
}

var (
	_ upstreams.Admitter = drawing{}
	_ upstreams.Drawer   = drawing{}
)

// compileDrawing compiles the field as of a section, which is png or svg.
func compileDrawing(c *upstreams.Compiler, section, as string) drawing {
	if as != "png" && as != "svg" {
		c.Add("%s: as: expected png or svg, got %q", section, as)
	}
	return drawing{svg: as == "svg", work: &c.Env.Work}
}

// Admit implements upstreams.Admitter: it takes a slot for drawing.
func (d drawing) Admit(ctx context.Context, _ *upstreams.Input) (func(), error) {
	return d.work.EnterDrawing(ctx)
}

// DrawsSVG implements upstreams.Drawer.
func (d drawing) DrawsSVG() bool { return d.svg }

// draw draws in the declared format.
func (d drawing) draw(svg, png func() ([]byte, error)) (*upstreams.Blob, error) {
	if d.svg {
		b, err := svg()
		return &upstreams.Blob{Type: "image/svg+xml", Bytes: b}, err
	}
	b, err := png()
	return &upstreams.Blob{Type: "image/png", Bytes: b}, err
}
