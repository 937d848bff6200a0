package apidoc

import (
	"slices"

	"sundry/metrics/words"
	"sundry/upstreams/catalog"
)

// Shape says what a caller gets of a form, and so how a program reads it.
type Shape string

// The shapes.
const (
	JSON     Shape = "json"
	Text     Shape = "text"
	Picture  Shape = "picture"
	SVG      Shape = "svg"
	Redirect Shape = "redirect"
	Page     Shape = "page"
	Script   Shape = "script"
)

// Form is what callers get of a form.
type Form struct {
	Shape Shape
	Media string     // its type, as Content-Type begins; "" for a redirect
	Is    words.Text // what it is, in a few words
}

// FormOf describes a form of an endpoint.
func FormOf(f *catalog.Form) Form {
	switch {
	case f.IsSVG():
		return Form{SVG, "image/svg+xml", words.Say("SVG picture", "SVG 图片")}
	case f.IsPNG():
		return Form{Picture, "image/png", words.Say("picture", "图片")}
	case MayRedirect(f):
		return Form{Picture, "image/*", words.Say("picture, or a redirect to one", "图片，或跳转到图片")}
	case f.IsPicture():
		return Form{Picture, "image/*", words.Say("picture", "图片")}
	}
	switch f.Kind {
	case "json":
		return Form{JSON, "application/json", words.Say("JSON", "JSON")}
	case "markdown":
		return Form{Text, "text/markdown", words.Say("Markdown", "Markdown")}
	case "redirect":
		return Form{Redirect, "", words.Say("redirect", "跳转")}
	case "interstitial":
		return Form{Page, "text/html", words.Say("page that shows the link", "展示链接的网页")}
	case "script":
		return Form{Script, "text/javascript", words.Say("script that writes the text into the page", "把文字写进网页的脚本")}
	}
	return Form{Text, "text/plain", words.Say("plain text", "纯文本")}
}

// MayRedirect reports whether a picture is fetched for the caller, who gets its address where that fails.
func MayRedirect(f *catalog.Form) bool { return f.PictureProxy != nil }

// Has reports whether an endpoint has a form of the shape.
func Has(e *catalog.Endpoint, shape Shape) bool {
	return slices.ContainsFunc(e.Forms, func(f *catalog.Form) bool { return FormOf(f).Shape == shape })
}

// FormParam is the first parameter that chooses among the forms; nil: there is none.
func FormParam(e *catalog.Endpoint) *catalog.Param {
	i := slices.IndexFunc(e.Params, func(p *catalog.Param) bool { return p.Role == catalog.RoleForm })
	if i < 0 {
		return nil
	}
	return e.Params[i]
}
