package scaffold

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"
)

//go:embed draft.tmpl
var draftText string

// templates are parsed once, when the first file is written.
var templates = sync.OnceValues(func() (*template.Template, error) {
	return template.New("draft").Funcs(template.FuncMap{
		"quote": quote, "single": single, "join": strings.Join,
		"flow":   func(members []string) string { return "{" + strings.Join(members, ", ") + "}" },
		"indent": func(text, by string) string { return strings.ReplaceAll(text, "\n", "\n"+by) },
	}).Parse(draftText)
})

// written is a file by its template.
func written(name string, data any) ([]byte, error) {
	all, err := templates()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	err = all.ExecuteTemplate(&b, name, data)
	return []byte(b.String()), err
}

// fileData is what the template of a catalog file shows.
type fileData struct {
	*reply
	Name, Group, Host, Class, Source string
	Params                           []*param
	// URL without its query; Query and Secrets as members of a mapping.
	URL            string
	Query, Secrets []string
	// Body is the program of a POST's; "" for a GET.
	Body string
	// OtherHost that a redirect led to; "" for none.
	OtherHost string
}

// fileOf is the text of the catalog file.
func fileOf(c *Call, source string, r *reply) ([]byte, error) {
	a := c.Address
	d := &fileData{
		reply: r, Name: c.Name, Group: group(r, a), Host: a.url.Host, Class: "shared", Source: source,
		Params: a.params, URL: a.url.Scheme + "://" + a.url.Host + a.path,
	}
	if len(a.params) > 0 {
		d.Class = "keyed"
	}
	for _, p := range a.secret {
		d.Secrets = append(d.Secrets, p.name+": "+p.variable)
	}
	for _, p := range slices.Concat(a.secret, a.params) {
		if p.query != "" {
			d.Query = append(d.Query, quote(p.query)+": "+quote("{"+p.name+"}"))
		}
	}
	for _, f := range a.fixed {
		d.Query = append(d.Query, quote(f[0])+": "+quote(f[1]))
	}
	if a.sends != nil {
		d.Body = a.sends.program("", a.sends.value, "        ")
	}
	if c.Host != a.url.Host {
		d.OtherHost = c.Host
	}
	return written("file", d)
}

// group is the built-in group that the endpoint fits best.
func group(r *reply, a *Address) string {
	switch {
	case r.Decode == "image":
		return "images"
	case len(a.params) > 0:
		return "lookups"
	}
	return "text"
}

// Labels reports whether the text of an answer has lines with labels.
func (m *mapping) Labels() bool { return slices.ContainsFunc(m.fields, (*field).plain) }

// Describe is the section fields of the catalog file, each line behind an indent.
func (m *mapping) Describe(indent string) string { return described(m.fields, indent) }

func described(fields []*field, indent string) string {
	var b strings.Builder
	for _, f := range fields {
		en, zh := describe(f.name)
		demand := f.demand()
		if len(f.fields) == 0 {
			is := ""
			if f.is != "" {
				is = "is: " + f.is + ", "
			}
			fmt.Fprintf(&b, "%s%s: {%s%sen: %s, zh: %s}\n", indent, f.name, is, demand, quote(en), quote(zh))
			continue
		}
		fmt.Fprintf(&b, "%s%s:\n", indent, f.name)
		if demand != "" {
			fmt.Fprintf(&b, "%s  %s\n", indent, strings.TrimSuffix(demand, ", "))
		}
		inner := described(f.fields, indent+"    ")
		fmt.Fprintf(&b, "%s  en: %s\n%[1]s  zh: %[3]s\n%[1]s  fields:\n%[4]s", indent, quote(en), quote(zh), inner)
	}
	return b.String()
}

// demand is what the field must hold, as a catalog file has it.
func (f *field) demand() string {
	switch {
	case f.must:
		return "must: true, "
	case f.atLeast > 0:
		return fmt.Sprintf("at_least: %d, ", f.atLeast)
	case f.counts != "":
		return "counts: " + f.counts + ", "
	}
	return ""
}

// Lines are the programs of the lines of a text: each plain field with its label, and
// the first of each item of a list.
func (m *mapping) Lines() []string {
	var out []string
	for _, f := range m.fields {
		en, zh := describe(f.name)
		switch {
		case f.list && len(f.fields) > 0:
			out = append(out, "(."+f.name+"[]? | ."+headline(f.fields)+" // empty | tostring)")
		case f.list:
			out = append(out, "(."+f.name+"[]? | tostring)")
		case f.plain():
			out = append(out, "line("+quote(strings.TrimSuffix(en, "."))+"; "+quote(strings.TrimSuffix(zh, "。"))+"; ."+f.name+")")
		}
	}
	if out == nil {
		out = append(out, "tojson")
	}
	return out
}

// headline is the field that says most of an item.
func headline(fields []*field) string {
	if f := said(fields); f != nil {
		return f.name
	}
	return fields[0].name
}
