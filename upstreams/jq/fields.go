package jq

import (
	"maps"
	"slices"
)

// Fields are the names of an object's fields in the order in which a program writes
// them, with the fields of their values. nil means that none is known. Fields are
// never changed: methods return new ones.
type Fields struct {
	names []string
	of    map[string]*Fields // by name
	items *Fields            // of an array
	// declared is how many of the names, from the first, are of fields that an object
	// is to have whatever the program emits.
	declared int
}

// Declare returns f with all of its own names declared.
func (f *Fields) Declare() *Fields {
	if f == nil {
		return nil
	}
	out := *f
	out.declared = len(f.names)
	return &out
}

// Declared returns the names of declared fields, which come before all others.
func (f *Fields) Declared() []string {
	if f == nil {
		return nil
	}
	return f.names[:f.declared]
}

// Names returns the names in order.
func (f *Fields) Names() []string {
	if f == nil {
		return nil
	}
	return f.names
}

// Field returns the fields of a field's value. ok is false if the field itself is not
// known.
func (f *Fields) Field(name string) (value *Fields, ok bool) {
	if f == nil {
		return nil, false
	}
	value, ok = f.of[name]
	return value, ok
}

// Items returns the fields of an array's items.
func (f *Fields) Items() *Fields {
	if f == nil {
		return nil
	}
	return f.items
}

// With returns f with a field: in the place that it has already, or as the last.
func (f *Fields) With(name string, value *Fields) *Fields {
	out := &Fields{of: map[string]*Fields{}}
	if f != nil {
		out.names, out.items = f.names, f.items
		maps.Copy(out.of, f.of)
	}
	if _, ok := out.of[name]; !ok {
		out.names = append(slices.Clip(out.names), name)
	}
	out.of[name] = value
	return out
}

// WithItems returns f with the fields of its items, for a value that may be an array.
func (f *Fields) WithItems(items *Fields) *Fields {
	if f == nil {
		return nil
	}
	out := *f
	out.items = items
	return &out
}

// Join merges f, which declares nothing, with other. The order of f stays. A field that only other has follows
// the one that it follows there, or precedes the first that both have; if they have
// none in common, it comes last.
func (f *Fields) Join(other *Fields) *Fields { return f.merge(other, (*Fields).between) }

// Then merges f with other: the fields that only other has come last. What f declares
// stays declared.
func (f *Fields) Then(other *Fields) *Fields { return f.merge(other, (*Fields).behind) }

// merge merges two, with the same order of names at each level.
func (f *Fields) merge(other *Fields, names func(f, other *Fields) []string) *Fields {
	switch {
	case f == nil:
		return other
	case other == nil || f == other:
		return f
	}
	out := &Fields{names: names(f, other), of: map[string]*Fields{}, items: f.items.merge(other.items, names), declared: f.declared}
	for _, name := range out.names {
		out.of[name] = f.of[name].merge(other.of[name], names)
	}
	return out
}

func (f *Fields) between(other *Fields) []string {
	names, at := slices.Clone(f.names), len(f.names)
	if i := slices.IndexFunc(other.names, func(name string) bool { return slices.Contains(f.names, name) }); i >= 0 {
		at = slices.Index(f.names, other.names[i])
	}
	for _, name := range other.names {
		if i := slices.Index(names, name); i >= 0 {
			at = i + 1
		} else {
			names = slices.Insert(names, at, name)
			at++
		}
	}
	return names
}

func (f *Fields) behind(other *Fields) []string {
	names := slices.Clone(f.names)
	for _, name := range other.names {
		if _, ok := f.of[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}
