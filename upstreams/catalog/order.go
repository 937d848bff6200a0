package catalog

import (
	"bytes"
	"maps"
	"slices"

	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
	"sundry/upstreams/kinds"
	"sundry/upstreams/lib/plainjson"
)

// fieldOrder is the order of the fields that a form emits. Programs emit objects as
// maps, which have no order, so the order is derived from the file, once, and is the
// same whichever source answered: the declared fields first, then those of the form's
// program, then those of the programs of the sources, each in the order of the file.
func (s *formSpec) fieldOrder(declared []*Field, sources []kinds.SourceSpec, defs *jq.Defs) *jq.Fields {
	var data *jq.Fields
	for i := range sources {
		data = data.Join(sourceFields(&sources[i], defs))
	}
	if s.Each != nil {
		data = jq.FieldsOf(s.Each, defs, data, nil)
	}
	return orderOf(declared).Then(jq.FieldsOf(s.JSON, defs, data, nil))
}

// sourceFields are the fields of what a source maps.
func sourceFields(s *kinds.SourceSpec, defs *jq.Defs) *jq.Fields {
	if s.Map == nil {
		return nil
	}
	var vars *jq.Fields
	for i := range s.Before {
		if step := &s.Before[i]; step.Keep != nil {
			vars = vars.With(step.Name.Value, jq.FieldsOf(step.Keep, defs, nil, withVars(vars, step.Vars, defs)))
		}
	}
	return jq.FieldsOf(s.Map, defs, nil, withVars(vars, s.Vars, defs))
}

func withVars(vars *jq.Fields, declared map[string]declare.Expr, defs *jq.Defs) *jq.Fields {
	out := vars
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		program := declared[name]
		out = out.With(name, jq.FieldsOf(&program, defs, nil, vars))
	}
	return out
}

// encoder writes JSON as it is meant for people: nothing is escaped that need
// not be, and fields come in their order.
type encoder struct{ b []byte }

// encode writes a value between a head and a tail. Declared fields that an object does
// not have are null. Fields that are not known follow the others, by name.
func encode(head string, v any, fields *jq.Fields, tail string) ([]byte, error) {
	e := encoder{append(make([]byte, 0, 2<<10), head...)}
	if err := e.value(v, fields); err != nil {
		return nil, err
	}
	b := append(e.b, tail...)
	if cap(b)-len(b) > len(b)/4 {
		b = bytes.Clone(b) // there may be thousands, of a pool
	}
	return b, nil
}

func (e *encoder) value(v any, fields *jq.Fields) (err error) {
	switch v := v.(type) {
	case map[string]any:
		if v != nil {
			return e.object(v, fields)
		}
	case []any:
		if v != nil {
			return e.array(v, fields.Items())
		}
	}
	e.b, err = plainjson.Append(e.b, v)
	return err
}

func (e *encoder) array(list []any, items *jq.Fields) error {
	e.b = append(e.b, '[')
	for i, v := range list {
		if i > 0 {
			e.b = append(e.b, ',')
		}
		if err := e.value(v, items); err != nil {
			return err
		}
	}
	e.b = append(e.b, ']')
	return nil
}

func (e *encoder) object(object map[string]any, fields *jq.Fields) error {
	e.b = append(e.b, '{')
	first, declared, found := len(e.b), len(fields.Declared()), 0
	for i, name := range fields.Names() {
		v, ok := object[name]
		if ok {
			found++
		} else if i >= declared {
			continue
		}
		if err := e.field(first, name, v, fields); err != nil {
			return err
		}
	}
	if found < len(object) {
		for _, name := range unknown(object, fields) {
			if err := e.field(first, name, object[name], nil); err != nil {
				return err
			}
		}
	}
	e.b = append(e.b, '}')
	return nil
}

// field writes a field of an object whose first one is written at first.
func (e *encoder) field(first int, name string, v any, fields *jq.Fields) error {
	if len(e.b) > first {
		e.b = append(e.b, ',')
	}
	e.b = append(plainjson.AppendText(e.b, name), ':')
	of, _ := fields.Field(name)
	return e.value(v, of)
}

// unknown are the names of an object's fields whose order is not known, sorted.
func unknown(object map[string]any, fields *jq.Fields) []string {
	var out []string
	for name := range object {
		if _, ok := fields.Field(name); !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
