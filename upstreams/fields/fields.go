// Package fields checks the data that a source has mapped, by what its endpoint declares
// below fields:. It promises that nothing incomplete is an answer: where a field that must
// have a value has none, where a list has too few items, the data is refused, with the
// field and why; an item without its values is left out; an optional value that is not
// what its field says is null. It knows no endpoint, and changes no value that it is given.
package fields

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Demands are what the data of an endpoint's answers must hold.
type Demands struct {
	// Pool is the path of the list whose items are candidates for an answer; nil: the data
	// is one answer itself. An empty path is the data.
	Pool []string
	// Fields of the data, or of each candidate.
	Fields []*Field
}

// Field is what an answer holds at one place.
type Field struct {
	Name string
	// EN and ZH describe it; "" where nobody does.
	EN, ZH string
	// Is what its value is, or each item of a list; "": anything.
	Is Type
	// Must have a value: not null, blank or the text null, and of its type.
	Must bool
	// AtLeast is how many items a list has to have; 0: it may be empty, or absent.
	AtLeast int
	// Counts is the name of the list beside it whose items it counts; "": it does not.
	Counts string
	// Fields of an object, or of each item of a list. An item that lacks one which must
	// have a value is left out.
	Fields []*Field
}

// MayBeMissing reports whether a value of the field may be null in an answer that is one: it
// is declared, and neither must have a value nor is made here.
func (f *Field) MayBeMissing() bool { return f.Is != "" && !f.Must && f.AtLeast == 0 && f.Counts == "" }

// IsWhole reports whether its numbers are whole.
func (f *Field) IsWhole() bool { return f.Is == Integer || f.Counts != "" }

// Missing is the error of data that lacks what it must have.
type Missing struct {
	// Field is its path, such as list[].url.
	Field string
	// Why it is missing.
	Why string
}

func (m *Missing) Error() string { return strings.TrimPrefix(m.Field+": "+m.Why, ": ") }

// in puts a path in front of that of an error.
func (m *Missing) in(path string) *Missing {
	sep := "."
	if strings.HasPrefix(m.Field, "[") || path == "" || m.Field == "" {
		sep = ""
	}
	return &Missing{path + sep + m.Field, m.Why}
}

// Check returns the data as it is answered. The error is a *Missing. mayBeEmpty: the
// source has said that there is nothing, so lists may have fewer items than they must.
func (d *Demands) Check(data any, mayBeEmpty bool) (any, error) {
	c := checker{mayBeEmpty}
	var out any
	var missing *Missing
	list, isList := data.([]any)
	switch {
	case d.Pool != nil:
		out, missing = c.below(d.Pool, data, &Field{Must: true, Fields: d.Fields})
	case isList:
		out, _, missing = c.list(list, &Field{Fields: d.Fields})
	default:
		out, _, missing = c.value(data, &Field{Must: need(d.Fields), Fields: d.Fields})
	}
	if missing != nil {
		return nil, missing
	}
	return out, nil
}

// checker goes through the data of one answer. Its methods return the value, and whether it
// is another than the one they were given.
type checker struct{ mayBeEmpty bool }

// below checks the value at a path of objects.
func (c checker) below(path []string, v any, f *Field) (any, *Missing) {
	if len(path) == 0 {
		out, _, missing := c.value(v, f)
		return out, missing
	}
	object, _ := v.(map[string]any)
	inner, missing := c.below(path[1:], object[path[0]], f)
	if missing != nil {
		return nil, missing.in(path[0])
	}
	out := map[string]any{path[0]: inner}
	for name, value := range object {
		if name != path[0] {
			out[name] = value
		}
	}
	return out, nil
}

// value checks the value of a field.
func (c checker) value(v any, f *Field) (out any, other bool, missing *Missing) {
	if list, ok := v.([]any); ok {
		return c.list(list, f)
	}
	switch object, isObject := v.(map[string]any); {
	case f.AtLeast > 0 && !c.mayBeEmpty:
		missing = &Missing{Why: f.tooFew(v)}
	case isNone(v) && (f.Must || !isObject):
		missing = &Missing{Why: "expected a value, got " + nameOf(v)}
	case len(f.Fields) == 0:
		if out, missing = f.Is.read(v); missing == nil {
			return out, f.Is == Time, nil
		}
	case isObject:
		if out, other, missing = c.object(object, f.Fields); missing == nil {
			return out, other, nil
		}
	default:
		missing = &Missing{Why: "expected an object, got " + nameOf(v)}
	}
	switch {
	case f.Must, f.AtLeast > 0 && !c.mayBeEmpty:
		return nil, false, missing
	case f.Is == "" && len(f.Fields) == 0: // anything
		return v, false, nil
	}
	return nil, v != nil, nil
}

// object checks the fields of an object.
func (c checker) object(object map[string]any, fields []*Field) (any, bool, *Missing) {
	out, changed := object, false
	set := func(name string, v any) {
		if !changed {
			out, changed = maps.Clone(object), true
		}
		out[name] = v
	}
	for _, f := range fields {
		v, other, missing := c.value(object[f.Name], f)
		if missing != nil {
			return nil, false, missing.in(f.Name)
		}
		if other {
			set(f.Name, v)
		}
	}
	for _, f := range fields {
		if f.Counts != "" {
			list, _ := out[f.Counts].([]any)
			set(f.Name, len(list))
		}
	}
	return out, changed, nil
}

// list checks the items of a list, and leaves out those that are not what they must be.
func (c checker) list(list []any, f *Field) (any, bool, *Missing) {
	kept, changed := list, false
	var last *Missing
	item := &Field{Is: f.Is, Fields: f.Fields, Must: f.Must || f.AtLeast > 0 || f.Is != "" || need(f.Fields)}
	for i := range list {
		v, other, missing := c.value(list[i], item)
		if (other || missing != nil) && !changed {
			kept, changed = append(make([]any, 0, len(list)), list[:i]...), true
		}
		if missing != nil {
			last = missing.in("[]")
		} else if changed {
			kept = append(kept, v)
		}
	}
	if len(kept) >= f.least() || c.mayBeEmpty {
		return kept, changed, nil
	}
	why := f.tooFew(kept)
	if last != nil {
		why += "; left out: " + last.Error()
	}
	return nil, false, &Missing{Why: why}
}

// least is how many items a list of the field has to have.
func (f *Field) least() int {
	if f.Must {
		return max(1, f.AtLeast)
	}
	return f.AtLeast
}

// tooFew says what is wrong with a value that is no list of enough items.
func (f *Field) tooFew(v any) string {
	return fmt.Sprintf("expected a list of at least %d, got %s", f.least(), nameOf(v))
}

// need reports whether one of the fields must have a value.
func need(fields []*Field) bool {
	return slices.ContainsFunc(fields, func(f *Field) bool { return f.Must || f.AtLeast > 0 })
}
