package catalog

import (
	"net/url"
	"slices"
	"strings"
)

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
