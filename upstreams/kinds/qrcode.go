package kinds

import (
	"context"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams"
	"sundry/upstreams/qrcode"
)

// QRCodeSpec declares a source that draws a QR code of the parameters text and size
// (in pixels).
type QRCodeSpec struct {
	// As is png or svg.
	As string `yaml:"as" required:"true" enum:"png,svg"`
}

type qrMaker struct {
	drawing
	painter *qrcode.Painter
}

func compileQRCode(c *upstreams.Compiler, section *yaml.Node) upstreams.Compiled {
	var spec QRCodeSpec
	c.Decode(section, &spec)
	return upstreams.Compiled{Fetcher: qrMaker{compileDrawing(c, "qrcode", spec.As), &qrcode.Painter{}}}
}

// Fetch implements upstreams.Fetcher.
func (q qrMaker) Fetch(_ context.Context, in *upstreams.Input) (*upstreams.Reply, error) {
	text, _ := in.Call.Params["text"].(string)
	size, _ := in.Call.Params["size"].(int)
	code, err := qrcode.Encode(text)
	if err != nil {
		return nil, &upstreams.Error{Kind: upstreams.Invalid, Parameter: "text", Message: err.Error(), Err: err}
	}
	blob, err := q.draw(
		func() ([]byte, error) { return code.SVG(size) },
		func() ([]byte, error) { return q.painter.PNG(code, size) },
	)
	if tooSmall, ok := errors.AsType[*qrcode.TooSmallError](err); ok {
		return nil, &upstreams.Error{Kind: upstreams.Invalid, Parameter: "size", Err: err,
			Message: fmt.Sprintf("size %d is too small for this text; expected at least %d", size, tooSmall.Min)}
	}
	if err != nil {
		return nil, err
	}
	data := map[string]any{"text": text, "size": size, "version": code.Version(), "level": code.Level()}
	return &upstreams.Reply{Body: data, Blob: blob}, nil
}
