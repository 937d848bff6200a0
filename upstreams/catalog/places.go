package catalog

import (
	"cmp"

	"sundry/upstreams/declare"
)

// places are those of its sources, forms and fields, as in "source first", "form text" and
// "field list.title": mistakes that say nothing yet.
func (d *declaration) places() map[string]Mistake {
	out := map[string]Mistake{}
	add := func(kind, name string, line int) { out[kind+" "+name] = d.mistake(declare.Problem{Line: line}) }
	sources := d.spec.allSources()
	for i := range sources {
		add("source", sources[i].Name.Value, sources[i].Name.Line)
	}
	for i := range d.spec.Forms {
		add("form", d.spec.Forms[i].Name.Value, d.spec.Forms[i].line())
	}
	d.spec.Fields.each("", func(path string, f *declare.Member[fieldSpec]) { add("field", path, f.Name.Line) })
	return out
}

// Mistake is one in the file of the endpoint, at a part such as "source first", "form text"
// or "field list.title".
func (e *Endpoint) Mistake(part, format string, args ...any) Mistake {
	m := e.places[part]
	m.File, m.Msg = cmp.Or(m.File, e.File), declare.Say(format, args...)
	return m
}
