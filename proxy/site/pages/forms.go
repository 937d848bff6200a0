package pages

import (
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
)

// shape says what a caller gets of a form, and so how a program reads it.
type shape string

// The shapes.
const (
	shapeJSON     shape = "json"
	shapeText     shape = "text"
	shapePicture  shape = "picture"
	shapeSVG      shape = "svg"
	shapeRedirect shape = "redirect"
	shapePage     shape = "page"
	shapeScript   shape = "script"
)

func shapeOf(f *catalog.Form) shape {
	switch {
	case f.IsSVG():
		return shapeSVG
	case f.IsPicture():
		return shapePicture
	case f.Kind == "json":
		return shapeJSON
	case f.Kind == "redirect":
		return shapeRedirect
	case f.Kind == "interstitial":
		return shapePage
	case f.Kind == "script":
		return shapeScript
	}
	return shapeText
}

// formRow is a form of the answer, and how it is asked for.
type formRow struct {
	Shape shape
	// Query that asks for it, as in type=text; "" for the default form.
	Query string
	Is    string
	Type  string // its media type
}

// formRows are the forms of an endpoint, the default first, and JSONP.
func formRows(l i18n.Language, e *catalog.Endpoint) []formRow {
	var all []formRow
	for i, f := range e.Forms {
		row := formRow{Shape: shapeOf(f), Is: formWord(l, f), Type: mediaType(f)}
		if i > 0 {
			row.Query = queryFor(e, f)
		}
		all = append(all, row)
	}
	if p := e.Callback(); p != nil {
		all = append(all, formRow{shapeScript, p.Name + "=" + p.Example, say(l, "the JSON, given to a function of yours (JSONP)", "以 JSON 调用指定的函数（JSONP）"), "text/javascript"})
	}
	return all
}

// queryFor is the parameter and the value that ask for a form; "" if there is none.
func queryFor(e *catalog.Endpoint, f *catalog.Form) string {
	name, value := e.AskFor(f.Name)
	if name == "" {
		return ""
	}
	return name + "=" + value
}

// formWord says what a caller gets of a form.
func formWord(l i18n.Language, f *catalog.Form) string {
	switch {
	case f.IsSVG():
		return say(l, "SVG picture", "SVG 图片")
	case f.IsPicture():
		return say(l, "picture", "图片")
	}
	switch f.Kind {
	case "json":
		return "JSON"
	case "markdown":
		return "Markdown"
	case "redirect":
		return say(l, "redirect", "跳转")
	case "interstitial":
		return say(l, "page that shows the link", "展示链接的网页")
	case "script":
		return say(l, "script that writes the text into the page", "把文字写进网页的脚本")
	}
	return say(l, "plain text", "纯文本")
}

// mediaType of a form's answers, as their Content-Type begins; "" for a redirect.
func mediaType(f *catalog.Form) string {
	switch {
	case f.IsSVG():
		return "image/svg+xml"
	case f.IsPicture():
		return "image/*"
	}
	switch f.Kind {
	case "json":
		return "application/json"
	case "markdown":
		return "text/markdown"
	case "redirect":
		return ""
	case "interstitial":
		return "text/html"
	case "script":
		return "text/javascript"
	}
	return "text/plain"
}
