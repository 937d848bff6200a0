// Package shape describes what documents look like, and finds what has changed in
// another: the doctor compares the data of answers, the running service the replies
// of upstreams.
package shape

import (
	"maps"
	"slices"
	"strings"
)

// Shape describes the values at one place of a document: their types, and the
// shapes of their fields and items. The zero value describes no values yet.
type Shape struct {
	types   map[string]bool // null, boolean, number, string, array, object
	objects int             // how many objects were added
	empty   bool            // one of the lists had no items
	fields  map[string]*Shape
	in      map[string]int // in how many of the objects a field was
	items   *Shape
}

// Add extends the shape by a value, as decoded from JSON or emitted by a jq
// program.
func (s *Shape) Add(v any) {
	if s.types == nil {
		s.types, s.fields, s.in = map[string]bool{}, map[string]*Shape{}, map[string]int{}
	}
	typ := typeOf(v)
	s.types[typ] = true
	switch v := v.(type) {
	case []any:
		if s.items == nil {
			s.items = &Shape{}
		}
		s.empty = s.empty || len(v) == 0
		for _, item := range v {
			s.items.Add(item)
		}
	case map[string]any:
		s.objects++
		for name, field := range v {
			known := s.fields[name]
			if known == nil {
				known, name = &Shape{}, strings.Clone(name) // which may be a part of a whole document
				s.fields[name] = known
			}
			known.Add(field)
			s.in[name]++
		}
	}
}

// Types are the types that occur, sorted; none if no value was added.
func (s *Shape) Types() []string { return slices.Sorted(maps.Keys(s.types)) }

// Items is the shape of an array's items; one of nothing if there are none.
func (s *Shape) Items() *Shape {
	if s.items == nil {
		return &Shape{}
	}
	return s.items
}

// Names are those of an object's fields, sorted.
func (s *Shape) Names() []string { return slices.Sorted(maps.Keys(s.fields)) }

// Field is the shape of an object's field. always reports whether every object had it.
// A field that is not known has a shape of nothing.
func (s *Shape) Field(name string) (field *Shape, always bool) {
	if s.fields[name] == nil {
		return &Shape{}, false
	}
	return s.fields[name], s.in[name] == s.objects
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "number"
}

// Difference is a place where a value has another shape.
type Difference struct {
	// Path of the place, as in data.list[].url.
	Path string
	// Is and Was say what it is, and which types it was known to have.
	Is, Was string
	// Missing and Null: there is no value now.
	Missing, Null bool
}

func (d Difference) String() string {
	if d.Was == "" {
		return d.Path + ": is " + d.Is
	}
	return d.Path + ": is " + d.Is + ", was one of " + d.Was
}

// Differences lists where a value has another shape, by path: fields that every
// object had and that are missing, and types that did not occur. New fields are
// not listed.
func (s *Shape) Differences(path string, v any) []Difference {
	found := s.differences(path, v)
	slices.SortFunc(found, func(a, b Difference) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(found)
}

func (s *Shape) differences(path string, v any) []Difference {
	typ := typeOf(v)
	if len(s.types) == 0 {
		return nil // only empty lists were added: every item fits
	}
	if !s.types[typ] {
		return []Difference{{path, typ, strings.Join(slices.Sorted(maps.Keys(s.types)), ", "), false, v == nil}}
	}
	var found []Difference
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			found = append(found, s.items.differences(path+"[]", item)...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(s.fields)) {
			field, ok := v[name]
			switch {
			case ok:
				found = append(found, s.fields[name].differences(path+"."+name, field)...)
			case s.in[name] == s.objects:
				found = append(found, Difference{path + "." + name, "missing", "", true, false})
			}
		}
	}
	return found
}
