package catalog

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
	"sundry/upstreams/kinds"
	"sundry/upstreams/plainjson"
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
type encoder struct {
	buf    bytes.Buffer
	scalar *json.Encoder // into buf
}

// encode writes a value. Declared fields that an object does not have are null.
// Fields that are not known follow the others, by name.
func encode(v any, fields *jq.Fields) ([]byte, error) {
	var e encoder
	e.scalar = plainjson.NewEncoder(&e.buf)
	if err := e.value(v, fields); err != nil {
		return nil, err
	}
	return e.buf.Bytes(), nil
}

func (e *encoder) value(v any, fields *jq.Fields) error {
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
	if err := e.scalar.Encode(v); err != nil {
		return err
	}
	e.buf.Truncate(e.buf.Len() - 1) // the encoder ends a line
	return nil
}

func (e *encoder) array(list []any, items *jq.Fields) error {
	e.buf.WriteByte('[')
	for i, v := range list {
		if i > 0 {
			e.buf.WriteByte(',')
		}
		if err := e.value(v, items); err != nil {
			return err
		}
	}
	e.buf.WriteByte(']')
	return nil
}

func (e *encoder) object(object map[string]any, fields *jq.Fields) error {
	e.buf.WriteByte('{')
	for i, name := range names(object, fields) {
		if i > 0 {
			e.buf.WriteByte(',')
		}
		if err := e.value(name, nil); err != nil {
			return err
		}
		e.buf.WriteByte(':')
		of, _ := fields.Field(name)
		if err := e.value(object[name], of); err != nil {
			return err
		}
	}
	e.buf.WriteByte('}')
	return nil
}

// names are an object's fields in order, with those that are declared and that it
// does not have.
func names(object map[string]any, fields *jq.Fields) []string {
	out := make([]string, 0, len(object))
	declared, found := len(fields.Declared()), 0
	for i, name := range fields.Names() {
		_, ok := object[name]
		if ok {
			found++
		}
		if ok || i < declared {
			out = append(out, name)
		}
	}
	if found == len(object) {
		return out
	}
	known := len(out)
	for name := range object {
		if _, ok := fields.Field(name); !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out[known:])
	return out
}
