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
	for _, f := range e.Forms {
		what := apidoc.FormOf(f)
		all = append(all, formRow{what.Shape, queryFor(e, f), l.Of(what.Is), what.Media})
	}
	if p := e.Callback(); p != nil {
		all = append(all, formRow{apidoc.Script, p.Name + "=" + p.Example, l.Say("the JSON, given to a function of yours (JSONP)", "以 JSON 调用指定的函数（JSONP）"), "text/javascript"})
	}
	return all
}

// queryFor is the parameter and the value that ask for a form; "" if there is none, and for the default form.
func queryFor(e *catalog.Endpoint, f *catalog.Form) string {
	name, value := selector(e, f)
	if name == "" {
		return ""
	}
	return name + "=" + value
}
