package pages

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
)

// parameter is a field of the form in which callers try an endpoint.
type parameter struct {
	Name, About string
	// Allowed says in words what values are allowed; "" where the control shows it.
	Allowed string
	// Default says in words what an absent value means; "" where nothing is to be said.
	Default            string
	Required, Personal bool
	// Callback: it names the function of JSONP.
	Callback bool
	// Value that it begins with: a required one with its example.
	Value string
	// Control is select, textarea or input.
	Control string
	// Options of a select.
	Options []option
	// Attributes of an input.
	Attributes
}

// Attributes of an input; those that are empty are left out.
type Attributes struct {
	Type, InputMode, Min, Max, MinLength, MaxLength, Pattern, Placeholder string
}

// option is a value of a select. The default has the value "", so that it is left out
// of the query.
type option struct {
	Value, Title string
	// Shape of the form that the value asks for; "" where it decides on none.
	Shape apidoc.Shape
}

// longText is from how many characters on a text may have several lines.
const longText = 1000

// parameters are the fields of the form: the inputs, then what decides on the form
// of the answer.
func parameters(l i18n.Language, e *catalog.Endpoint) (inputs, shaping []parameter) {
	for _, p := range e.Params {
		switch {
		case p.Derived():
		case p.Role == catalog.RoleInput:
			inputs = append(inputs, newParameter(l, e, p))
		default:
			shaping = append(shaping, newParameter(l, e, p))
		}
	}
	return inputs, shaping
}

func newParameter(l i18n.Language, e *catalog.Endpoint, p *catalog.Param) parameter {
	f := parameter{
		Name: p.Name, About: l.Say(p.EN, p.ZH), Required: p.Required, Personal: p.Personal, Callback: p.Role == catalog.RoleCallback, Control: "input",
		Attributes: attributesOf(p),
	}
	if p.Required {
		f.Value = p.Example
	}
	if p.Spec.Default != nil {
		f.Default = p.Spec.Default.Value
	}
	if f.Type != "date" {
		f.Placeholder = cmp.Or(f.Default, l.Say("e.g. ", "例如 ")+p.Example)
	}
	switch {
	case p.Role == catalog.RoleForm:
		f.Control, f.Options, f.Default = "select", formOptions(l, e, p), ""
	case len(p.Choices) > 0 || len(p.Spec.Enum) > 0:
		f.Control, f.Options, f.Default = "select", choiceOptions(l, p), ""
	case p.MaxLen() > longText:
		f.Control = "textarea"
	}
	if f.Control != "select" {
		f.Allowed = l.Of(p.Allowed)
	}
	return f
}

// attributesOf lets the browser help with a value and refuse what is certainly wrong. The
// service checks it all again.
func attributesOf(p *catalog.Param) Attributes {
	a := Attributes{Type: "text"}
	s := &p.Spec
	switch p.Type {
	case "int":
		low, high := *s.Min, *s.Max
		for _, n := range s.Also {
			low, high = min(low, n), max(high, n)
		}
		a.Type, a.Min, a.Max = "number", strconv.Itoa(low), strconv.Itoa(high)
	case "digits":
		a.InputMode, a.Pattern = "numeric", fmt.Sprintf("[0-9]{%d,%d}", s.MinLen, s.MaxLen)
	case "date":
		a.Type, a.Min = "date", s.Since.Value
	case "color":
		a.Pattern = "[0-9A-Fa-f]{3,8}"
	case "url", "site", "share":
		a.InputMode = "url"
	case "string":
		a.MaxLength = strconv.Itoa(p.MaxLen())
		if s.MinLen > 1 {
			a.MinLength = strconv.Itoa(s.MinLen)
		}
	}
	if p.Role == catalog.RoleTail {
		a.MaxLength = strconv.Itoa(p.MaxLen())
	}
	return a
}

// choiceOptions are the values of a list with their names, after one for leaving it out.
func choiceOptions(l i18n.Language, p *catalog.Param) []option {
	var all []option
	otherwise := ""
	if p.Spec.Default != nil {
		otherwise = p.Spec.Default.Value
	}
	for _, c := range choicesOf(p) {
		title := apidoc.Titled(l, c.Value, l.Say(c.EN, c.ZH))
		if c.Value == otherwise {
			otherwise = cmp.Or(l.Say(c.EN, c.ZH), c.Value)
		}
		all = append(all, option{Value: c.Value, Title: title})
	}
	if p.Required {
		return all
	}
	first := l.Say("Default", "默认")
	if otherwise != "" {
		first += l.Say(": ", "：") + otherwise
	}
	return append([]option{{Title: first}}, all...)
}

// choicesOf are the values of a list; those without a name stand for themselves.
func choicesOf(p *catalog.Param) []catalog.Choice {
	if len(p.Choices) > 0 {
		return p.Choices
	}
	var all []catalog.Choice
	for _, v := range p.Spec.Enum {
		all = append(all, catalog.Choice{Value: v})
	}
	return all
}

// formOptions are the values of a parameter that decides on the form. That of the
// endpoint's default form is left out of the query.
func formOptions(l i18n.Language, e *catalog.Endpoint, p *catalog.Param) []option {
	if len(p.Choices) > 0 {
		return choiceOptions(l, p)
	}
	main := apidoc.FormParam(e) == p
	var all []option
	if !main {
		all = append(all, option{Title: l.Say("Not given", "不指定")})
	}
	for _, v := range p.Spec.Enum {
		name, _ := p.FormOf(v)
		form := e.Forms[max(0, slices.Index(e.FormNames(), name))]
		what := apidoc.FormOf(form)
		one := option{v, apidoc.Titled(l, v, l.Of(what.Is)), what.Shape}
		if form == e.Forms[0] && main {
			one.Value, one.Title = "", one.Title+l.Say(" (default)", "（默认）")
		}
		all = append(all, one)
	}
	return all
}
