package catalog

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Calls show the endpoint: those of the specification's table that are meant to
// be shown, or else its examples.
func (e *Endpoint) Calls() []ConformanceCall {
	var shown []ConformanceCall
	for _, c := range e.calls {
		if c.As != "" && c.Status < http.StatusBadRequest {
			shown = append(shown, c)
		}
	}
	if len(shown) > 0 {
		return shown
	}
	for _, q := range e.Examples() {
		shown = append(shown, ConformanceCall{Query: q, As: "?" + q})
	}
	return shown
}

// Examples are query strings that show the endpoint: its example input once in
// every form, the default form first and without its parameter.
func (e *Endpoint) Examples() []string {
	var out []string
	base := e.exampleInput()
	for i, f := range e.Forms {
		q := slices.Clone(base)
		if i > 0 {
			name, value, ok := e.formValue(f.Name)
			if !ok {
				continue
			}
			q = append(q, name+"="+url.QueryEscape(value))
		}
		out = append(out, strings.Join(q, "&"))
	}
	if i := slices.IndexFunc(e.Params, func(p *Param) bool { return p.Role == roleCallback }); i >= 0 {
		out = append(out, strings.Join(append(base, e.Params[i].Name+"="+url.QueryEscape(e.Params[i].Example)), "&"))
	}
	return out
}

// exampleInput gives the required parameters, and those that the caller's
// address would stand in for.
func (e *Endpoint) exampleInput() []string {
	var q []string
	for _, p := range e.Params {
		if p.Role == roleInput && (p.Required || p.Caller) {
			q = append(q, p.Name+"="+url.QueryEscape(p.Example))
		}
	}
	return q
}

// formValue finds the parameter and the value that ask for a form.
func (e *Endpoint) formValue(form string) (name, value string, ok bool) {
	for _, p := range e.Params {
		if p.Role != roleForm {
			continue
		}
		for _, v := range p.Spec.Enum {
			if to, err := p.parse(v); err == nil && to == form {
				return p.Name, v, true
			}
		}
	}
	return "", "", false
}

// FormOf is the form that a value of a form parameter asks for.
func (p *Param) FormOf(value string) (form string, ok bool) {
	if p.Role != roleForm {
		return "", false
	}
	v, err := p.parse(value)
	form, ok = v.(string)
	return form, ok && err == nil
}
