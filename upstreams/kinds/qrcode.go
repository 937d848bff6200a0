package kinds

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"

	"go.yaml.in/yaml/v4"

	"sundry/metrics/words"
	"sundry/upstreams"
	"sundry/upstreams/lib/qrcode"
)

// QRCodeSpec declares a source that draws a QR code of the parameter text. The
// parameters size (in pixels), color, background, margin (in modules) and level may be
// absent.
type QRCodeSpec struct {
	// As is png, svg, data (the code's facts, with the PNG as a data URI) or text: a drawing
	// of characters for terminals, which has no size.
	As string `yaml:"as" required:"true" enum:"png,svg,data,text"`
}

type qrMaker struct {
	as      string
	painter *qrcode.Painter
}

func compileQRCode(c *upstreams.Compiler, section *yaml.Node) upstreams.Compiled {
	var spec QRCodeSpec
	c.Decode(section, &spec)
	picture := spec.As
	if picture == "data" || picture == "text" {
		picture = "png"
	}
	q := qrMaker{spec.As, &qrcode.Painter{}}
	return compileDrawing(c, "qrcode", picture, q.draw)
}

func (q qrMaker) draw(_ context.Context, a *upstreams.Attempt) (*upstreams.Reply, error) {
	params := a.Call.Params
	text, _ := params["text"].(string)
	level, _ := params["level"].(string)
	code, err := qrcode.Encode(text, level)
	if err != nil {
		return nil, upstreams.Mistaken(blamed(err), err, words.Of(err, notValid()))
	}
	if q.as == "text" {
		return &upstreams.Reply{Body: code.Text()}, nil
	}
	style, err := styleOf(params)
	if err != nil {
		return nil, upstreams.Mistaken("color", err, words.Of(err, notValid()))
	}
	size, given := params["size"].(int)
	if !given {
		size = code.Size(style)
	}
	blob, err := draw(q.as,
		func() ([]byte, error) { return code.SVG(size, style) },
		func() ([]byte, error) { return q.painter.PNG(code, size, style) },
	)
	if tooSmall, ok := errors.AsType[*qrcode.TooSmallError](err); ok {
		return nil, upstreams.Mistaken("size", err, words.Sayf(
			"size %d is too small for this text to be readable; expected at least %d, for example size=%[2]d",
			"%d 像素太小，这段文本会无法识读；至少应为 %d，例如 size=%[2]d", size, tooSmall.Min))
	}
	if err != nil {
		return nil, err
	}
	data := map[string]any{"size": size, "version": code.Version(), "level": code.Level(), "modules": code.Modules()}
	if q.as == "data" {
		data["text"] = text
		data["data_uri"] = "data:" + blob.Type + ";base64," + base64.StdEncoding.EncodeToString(blob.Bytes)
	}
	return &upstreams.Reply{Body: data, Blob: blob}, nil
}

// notValid stands for an error without words of its own.
func notValid() words.Text { return words.Say("the value is not valid", "所给的值无效") }

// blamed is the parameter that an error of Encode is about.
func blamed(err error) string {
	if errors.Is(err, qrcode.ErrLevel) {
		return "level"
	}
	return "text"
}

// styleOf reads the parameters of the style; absent ones are those of a plain code.
func styleOf(params map[string]any) (qrcode.Style, error) {
	style := qrcode.Plain()
	if margin, ok := params["margin"].(int); ok {
		style.Margin = margin
	}
	foreground, _ := params["color"].(string)
	background, _ := params["background"].(string)
	var err, err2 error
	style.Color, err = qrcode.ParseColor(cmp.Or(foreground, "000000"))
	style.Background, err2 = qrcode.ParseColor(cmp.Or(background, "ffffff"))
	return style, cmp.Or(err, err2, style.Check())
}
