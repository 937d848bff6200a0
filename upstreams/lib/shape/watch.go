package shape

import (
	"cmp"
	"maps"
	"slices"
)

// Bounds of one comparison, so that it is cheap whatever the size of a document.
const (
	mostItems  = 50  // of one array that are looked at
	mostValues = 500 // at one place
)

// Watch compares documents with a shape, as far as programs read them: at the fields
// with the names that they read, in fields that they read. It is safe for concurrent
// use.
type Watch struct {
	reads map[string]bool
	root  *place
}

// place is what is known of the values at one place.
type place struct {
	path   string
	types  map[string]bool
	always bool // it is in every known object around it
	filled bool // it is a list, and no known one was empty
	fields map[string]*place
	// others are the values of all fields of objects of which none has a name that is
	// read: the names are computed, such as dates and ids.
	others *place
	items  *place
}

// Watch watches the places of the shape that are read by these names.
func (s *Shape) Watch(reads map[string]bool) *Watch {
	return &Watch{reads, watch([]*Shape{s}, "", true, reads)}
}

// watch makes a place of the shapes of all values there.
func watch(shapes []*Shape, path string, always bool, reads map[string]bool) *place {
	p := &place{path: path, types: map[string]bool{}, fields: map[string]*place{}}
	fields, in, objects := map[string][]*Shape{}, map[string]int{}, 0
	var items []*Shape
	empty := false
	for _, s := range shapes {
		empty = empty || s.empty
		maps.Copy(p.types, s.types)
		objects += s.objects
		for name, field := range s.fields {
			fields[name] = append(fields[name], field)
			in[name] += s.in[name]
		}
		if s.items != nil {
			items = append(items, s.items)
		}
	}
	if p.always = always && !p.types["null"]; len(p.types) == 1 && p.types["null"] {
		p.types = nil // it was there, as nothing in particular
	}
	for name, of := range fields {
		if reads[name] {
			p.fields[name] = watch(of, join(path, name), in[name] == objects, reads)
		}
	}
	if len(p.fields) == 0 && len(fields) > 0 {
		p.others = watch(slices.Concat(slices.Collect(maps.Values(fields))...), join(path, "*"), false, reads)
	}
	if len(items) > 0 {
		p.filled = !empty
		p.items = watch(items, path+"[]", false, reads)
	}
	return p
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// Kind is a kind of change.
type Kind string

// The kinds of change.
const (
	// Missing is a field that all known objects had and that none has now, or that
	// is null now.
	Missing Kind = "missing"
	// Retyped is a value of a type that was not known there.
	Retyped Kind = "retyped"
	// Emptied is a list without any item, where none was known.
	Emptied Kind = "emptied"
	// New is a field that programs read and that was not known there.
	New Kind = "new"
)

// Change is what is different at one place.
type Change struct {
	Kind Kind
	// Field is its path, as in data.list[].url, with * for names that are computed; ""
	// for the document itself.
	Field string
}

// Changes lists what is different in a document, in order. Below a change, nothing is
// looked at.
func (w *Watch) Changes(document any) []Change {
	var found []Change
	w.compare(w.root, []any{document}, &found)
	slices.SortFunc(found, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Kind, b.Kind))
	})
	return found
}

// compare compares all values at one place of a document.
func (w *Watch) compare(p *place, values []any, found *[]Change) {
	if len(p.types) == 0 {
		return // only null or empty lists are known: everything fits
	}
	var objects []map[string]any
	var items []any
	lists := false
	for _, v := range values {
		switch v := v.(type) {
		case map[string]any:
			objects = append(objects, v)
		case []any:
			lists = true
			items = append(items, v[:min(len(v), mostItems, mostValues-min(len(items), mostValues))]...)
		}
		if v != nil && !p.types[typeOf(v)] {
			*found = append(*found, Change{Retyped, p.path})
			return
		}
	}
	switch {
	case len(items) > 0 && p.items != nil:
		w.compare(p.items, items, found)
	case len(items) == 0 && len(objects) == 0 && lists && p.filled:
		*found = append(*found, Change{Emptied, p.path})
	}
	if len(objects) == 0 {
		return
	}
	if w.compareFields(p, objects, found) == 0 && p.others != nil {
		w.compare(p.others, allValues(objects), found)
	}
}

// compareFields compares the fields of all objects at one place, and returns how many
// of them are new.
func (w *Watch) compareFields(p *place, objects []map[string]any, found *[]Change) (fresh int) {
	for _, name := range slices.Sorted(maps.Keys(p.fields)) {
		field := p.fields[name]
		values := valuesOf(objects, name)
		switch {
		case len(values) > 0:
			w.compare(field, values, found)
		case field.always:
			*found = append(*found, Change{Missing, field.path})
		}
	}
	for name := range w.reads {
		if p.fields[name] == nil && len(valuesOf(objects, name)) > 0 {
			*found = append(*found, Change{New, join(p.path, name)})
			fresh++
		}
	}
	return fresh
}

// allValues are those of all fields, up to a number, that are not null.
func allValues(objects []map[string]any) []any {
	var values []any
	for _, object := range objects {
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if len(values) == mostValues {
				return values
			}
			if v := object[name]; v != nil {
				values = append(values, v)
			}
		}
	}
	return values
}

// valuesOf are the values of a field that are not null.
func valuesOf(objects []map[string]any, name string) []any {
	var values []any
	for _, object := range objects {
		if v := object[name]; v != nil {
			values = append(values, v)
		}
	}
	return values
}
