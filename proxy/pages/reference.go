package pages

import (
	"bytes"
	"context"
	"encoding/json"
	"html/template"
	"strings"

	"sundry/upstreams/catalog"
	"sundry/upstreams/recorded"
)

// referenceEndpoint is an endpoint in the reference.
type referenceEndpoint struct {
	Name, EN, ZH string
	Params       []referenceParam
	Forms        string
	Links        []homeLink
	Example      string // a whole JSON answer, or ""
}

type referenceParam struct {
	Name, EN, ZH, Allowed, Default string
	Required                       bool
}

// renderReference generates the API reference for people from the same data as the
// OpenAPI document.
func renderReference(ctx context.Context, c *catalog.Catalog, cases []*recorded.Case, base string) ([]byte, error) {
	t, err := template.ParseFS(templates, "reference.html")
	if err != nil {
		return nil, err
	}
	if _, err := recorded.Exchanges(c, cases); err != nil {
		return nil, err
	}
	type group struct {
		catalog.Group
		Endpoints []referenceEndpoint
	}
	var groups []group
	for _, g := range catalog.Groups() {
		one := group{Group: g}
		for _, e := range c.InGroup(g.Name) {
			one.Endpoints = append(one.Endpoints, referenceOf(ctx, e, cases, base))
		}
		groups = append(groups, one)
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{"Groups": groups, "Base": base})
	return b.Bytes(), err
}

func referenceOf(ctx context.Context, e *catalog.Endpoint, cases []*recorded.Case, base string) referenceEndpoint {
	d := referenceEndpoint{Name: e.Name, EN: e.EN, ZH: e.ZH, Forms: strings.Join(e.FormNames(), ", "), Links: links(e, base)}
	for _, p := range e.Params {
		if p.Derived() {
			continue
		}
		param := referenceParam{Name: p.Name, EN: p.EN, ZH: p.ZH, Allowed: p.Allowed, Required: p.Required}
		if p.Spec.Default != nil {
			param.Default = p.Spec.Default.Value
		}
		d.Params = append(d.Params, param)
	}
	if sample := recorded.SampleOf(ctx, e, cases); sample.Data != nil {
		d.Example = indented(sample.Answer)
	}
	return d
}

// indented returns a JSON answer with line breaks and indentation; "" if it is none.
func indented(answer []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, answer, "", "  "); err != nil {
		return ""
	}
	return b.String()
}
