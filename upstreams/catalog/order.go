package catalog

import (
	"bytes"
	"slices"

	"sundry/upstreams/lib/plainjson"
)

// encoder writes JSON as it is meant for people: nothing is escaped that need
// not be, and fields come in their order.
type encoder struct{ b []byte }

// encode writes a value between a head and a tail. The declared fields of an object, or of
// the objects in a list, come in their order, and are null where it does not have them. Those
// that are not declared follow, by name.
func encode(head string, v any, declared []*Field, tail string) ([]byte, error) {
	e := encoder{append(make([]byte, 0, 2<<10), head...)}
	if err := e.value(v, declared); err != nil {
		return nil, err
	}
	b := append(e.b, tail...)
	if cap(b)-len(b) > len(b)/4 {
		b = bytes.Clone(b) // there may be thousands, of a pool
	}
	return b, nil
}

func (e *encoder) value(v any, declared []*Field) (err error) {
	switch v := v.(type) {
	case map[string]any:
		if v != nil {
			return e.object(v, declared)
		}
	case []any:
		if v != nil {
			return e.array(v, declared)
		}
	}
	e.b, err = plainjson.Append(e.b, v)
	return err
}

func (e *encoder) array(list []any, declared []*Field) error {
	e.b = append(e.b, '[')
	for i, v := range list {
		if i > 0 {
			e.b = append(e.b, ',')
		}
		if err := e.value(v, declared); err != nil {
			return err
		}
	}
	e.b = append(e.b, ']')
	return nil
}

func (e *encoder) object(object map[string]any, declared []*Field) error {
	e.b = append(e.b, '{')
	first, found := len(e.b), 0
	for _, f := range declared {
		v, ok := object[f.Name]
		if ok {
			found++
		}
		if err := e.field(first, f.Name, v, f.Fields); err != nil {
			return err
		}
	}
	if found < len(object) {
		if err := e.undeclared(first, object, declared); err != nil {
			return err
		}
	}
	e.b = append(e.b, '}')
	return nil
}

// undeclared writes the other fields of an object, by name.
func (e *encoder) undeclared(first int, object map[string]any, declared []*Field) error {
	var few [16]string
	names := few[:0]
	for name := range object {
		if !slices.ContainsFunc(declared, func(f *Field) bool { return f.Name == name }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if err := e.field(first, name, object[name], nil); err != nil {
			return err
		}
	}
	return nil
}

// field writes a field of an object whose first one is written at first.
func (e *encoder) field(first int, name string, v any, declared []*Field) error {
	if len(e.b) > first {
		e.b = append(e.b, ',')
	}
	e.b = append(plainjson.AppendString(e.b, name), ':')
	return e.value(v, declared)
}
