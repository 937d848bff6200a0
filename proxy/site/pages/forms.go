package pages

import (
	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
)

// formRow is a form of the answer, and how it is asked for.
type formRow struct {
	Shape apidoc.Shape
	// Query that asks for it, as in type=text; "" for the default form.
	Query string
	Is    string
	Type  string // its media type; "" for a redirect
}

// formRows are the forms of an endpoint, the default first, and JSONP.
func formRows(l i18n.Language, e *catalog.Endpoint) []formRow {
	var all []formRow
	for i, f := range e.Forms {
		what := apidoc.FormOf(f)
		row := formRow{Shape: what.Shape, Is: l.Of(what.Is), Type: what.Media}
		if i > 0 {
			row.Query = queryFor(e, f)
		}
		all = append(all, row)
	}
	if p := e.Callback(); p != nil {
		all = append(all, formRow{apidoc.Script, p.Name + "=" + p.Example, l.Say("the JSON, given to a function of yours (JSONP)", "以 JSON 调用指定的函数（JSONP）"), "text/javascript"})
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
