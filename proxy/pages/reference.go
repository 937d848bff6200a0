package pages

import (
	"bytes"
	"context"
	"encoding/json"
	"html/template"
	"slices"
	"strings"

	"sundry/upstreams/catalog"
	"sundry/upstreams/recorded"
)

// referenceEndpoint is an endpoint in the reference.
type referenceEndpoint struct {
	Name, EN, ZH string
	Params       []referenceParam
	Forms        string
	Fields       []referenceField
	Links        []homeLink
	Example      string // a whole JSON answer, or ""
}

type referenceParam struct {
	Name, EN, ZH, Allowed, Default string
	Required                       bool
}

// referenceField is a field of the JSON answer's data, as in items[].title.
type referenceField struct {
	Path, Is, EN, ZH string
}

// renderReference generates the API reference for people from the same data as the
// OpenAPI document.
func renderReference(ctx context.Context, c *catalog.Catalog, cases []*recorded.Case, base string) ([]byte, error) {
	t, err := template.ParseFS(templates, "reference.html")
	if err != nil {
		return nil, err
	}
	type group struct {
		catalog.Group
		Endpoints []referenceEndpoint
	}
	var groups []group
	for _, g := range c.Groups() {
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
	sample := recorded.SampleOf(ctx, e, cases)
	d.Fields = fieldsOf("", e.Fields, sample.Shape)
	if sample.Data != nil {
		d.Example = indented(sample.Answer)
	}
	return d
}

// fieldsOf lists declared fields with those below them, by their paths.
func fieldsOf(path string, fields []*catalog.Field, in *recorded.Shape) []referenceField {
	var all []referenceField
	for _, f := range fields {
		value := in.Field(f.Name)
		types := value.Types(f)
		all = append(all, referenceField{path + f.Name, typeWords(types, value, f), f.EN, f.ZH})
		below := path + f.Name + "."
		if slices.Contains(types, "array") {
			below = path + f.Name + "[]."
		}
		all = append(all, fieldsOf(below, f.Fields, value)...)
	}
	return all
}

// typeWords names the types of a field's values, as in "time, null" or "array of link".
func typeWords(types []string, value *recorded.Shape, f *catalog.Field) string {
	words := slices.Clone(types)
	for i, t := range types {
		switch {
		case t == "array":
			items := value.Items()
			if of := typeWords(items.Types(f), items, f); of != "" {
				words[i] = "array of " + of
			}
		case t == "string" && f.Is != "":
			words[i] = f.Is
		}
	}
	return strings.Join(words, ", ")
}

// indented returns a JSON answer with line breaks and indentation; "" if it is none.
func indented(answer []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, answer, "", "  "); err != nil {
		return ""
	}
	return b.String()
}
