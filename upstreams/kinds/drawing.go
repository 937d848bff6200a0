package kinds

import (
	"context"

	"sundry/upstreams"
)

// compileDrawing compiles a kind that draws in the format as, png or svg, and takes a slot for
// that.
func compileDrawing(c *upstreams.Compiler, section, as string, draw upstreams.Fetch) upstreams.Compiled {
	if as == "" {
		c.Add("%s: as: expected the format of the picture, for example as: png", section)
	}
	work := &c.Env.Work
	admit := func(ctx context.Context, _ *upstreams.Attempt) (func(), error) { return work.EnterDrawing(ctx) }
	return upstreams.Compiled{Fetch: draw, Admit: admit, Draws: as}
}

// draw draws as svg, or else as PNG.
func draw(as string, svg, png func() ([]byte, error)) (*upstreams.Blob, error) {
	if as == "svg" {
		b, err := svg()
		return &upstreams.Blob{Type: "image/svg+xml", Bytes: b}, err
	}
	b, err := png()
	return &upstreams.Blob{Type: "image/png", Bytes: b}, err
}
