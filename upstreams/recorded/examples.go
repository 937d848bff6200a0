package recorded

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sundry/upstreams/catalog"
)

// Calls show the endpoint: those of the specification's table that are meant to
// be shown, or else its examples.
func Calls(e *catalog.Endpoint) []ConformanceCall {
	var shown []ConformanceCall
	for _, c := range tableCalls(e.Name) {
		if c.EN != "" && c.Status < http.StatusBadRequest {
			shown = append(shown, c)
		}
	}
	if len(shown) > 0 {
		return shown
	}
	for _, q := range Examples(e) {
		shown = append(shown, titled(q))
	}
	return shown
}

// titled is an example without a title of its own.
func titled(query string) ConformanceCall {
	if query == "" {
		return ConformanceCall{EN: "Default", ZH: "默认"}
	}
	return ConformanceCall{Query: query, EN: "?" + query, ZH: "?" + query}
}

// tableCalls are the calls of the specification's table; none of an endpoint
// that is not in it.
func tableCalls(name string) []ConformanceCall {
	table, err := ConformanceTable()
	if err != nil {
		return nil // it comes with the program: a test reads it
	}
	for _, row := range table {
		if row.Endpoint == name {
			return row.Calls
		}
	}
	return nil
}

// Examples are query strings that show the endpoint: its example input once in
// every form, the default form first and without its parameter.
func Examples(e *catalog.Endpoint) []string {
	var out []string
	base := exampleInput(e)
	for i, f := range e.Forms {
		q := slices.Clone(base)
		if i > 0 {
			name, value := e.AskFor(f.Name)
			if name == "" {
				continue
			}
			q = append(q, name+"="+url.QueryEscape(value))
		}
		out = append(out, strings.Join(q, "&"))
	}
	if p := e.Callback(); p != nil {
		out = append(out, strings.Join(append(base, p.Name+"="+url.QueryEscape(p.Example)), "&"))
	}
	return out
}

// exampleInput gives the required parameters, and those that the caller's
// address would stand in for.
func exampleInput(e *catalog.Endpoint) []string {
	var q []string
	for _, p := range e.Params {
		if p.Role == catalog.RoleInput && (p.Required || p.Caller) {
			q = append(q, p.Name+"="+url.QueryEscape(p.Example))
		}
	}
	return q
}
