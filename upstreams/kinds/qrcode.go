package kinds

import (
	"context"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams"
	"sundry/upstreams/host"
	"sundry/upstreams/qrcode"
)

// QRCodeSpec computes a QR code from the parameters text and size.
type QRCodeSpec struct {
	// As is png or svg.
	As string `yaml:"as"`
}

type qrMaker struct {
	svg   bool
	work  *host.Work
	paint *qrcode.Painter
}

func compileQRCode(c *upstreams.Compiler, section *yaml.Node) upstreams.Compiled {
	var spec QRCodeSpec
	c.Decode(section, &spec)
	if spec.As != "png" && spec.As != "svg" {
		c.Add("qrcode: as: %q: want png or svg", spec.As)
	}
	return upstreams.Compiled{Fetcher: qrMaker{svg: spec.As == "svg", work: &c.Env.Work, paint: &qrcode.Painter{}}}
}

var _ upstreams.Admitter = qrMaker{}

// Admit implements upstreams.Admitter.
func (q qrMaker) Admit(ctx context.Context, _ *upstreams.Input) (func(), error) {
	return q.work.EnterDrawing(ctx)
}

// Fetch implements Fetcher.
func (q qrMaker) Fetch(_ context.Context, in *upstreams.Input) (*upstreams.Reply, error) {
	text, _ := in.Call.Params["text"].(string)
	size, _ := in.Call.Params["size"].(int)
	code, err := qrcode.Encode(text)
	if err != nil {
		return nil, &upstreams.Error{Kind: upstreams.Invalid, Parameter: "text", Message: err.Error(), Err: err}
	}
	blob, err := q.draw(code, size)
	if small, ok := errors.AsType[*qrcode.TooSmallError](err); ok {
		return nil, &upstreams.Error{Kind: upstreams.Invalid, Parameter: "size", Err: err,
			Message: fmt.Sprintf("size %d is too small for this text: want at least %d", size, small.Min)}
	}
	if err != nil {
		return nil, err
	}
	data := map[string]any{"text": text, "size": size, "version": code.Version(), "level": code.Level()}
	return &upstreams.Reply{Body: data, Blob: blob}, nil
}

func (q qrMaker) draw(code *qrcode.Code, size int) (*upstreams.Blob, error) {
	if q.svg {
		b, err := code.SVG(size)
		return &upstreams.Blob{Type: "image/svg+xml", Bytes: b}, err
	}
	b, err := q.paint.PNG(code, size)
	return &upstreams.Blob{Type: "image/png", Bytes: b}, err
}
