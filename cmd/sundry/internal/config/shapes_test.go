package config

import (
	"maps"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"sundry/upstreams/declare"
)

// Object is a part of a JSON Schema.
type Object = map[string]any

// dialect is the JSON Schema that is written.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// Schemas makes JSON Schemas of shapes.
type Schemas struct {
	comments *Comments
	defs     Object
	names    map[reflect.Type]string
	err      error
}

// NewSchemas describes with these comments.
func NewSchemas(c *Comments) *Schemas {
	return &Schemas{comments: c, defs: Object{}, names: map[reflect.Type]string{}}
}

// Document is the schema of a file. what is that of its value, made by Of.
func (s *Schemas) Document(title, description string, what Object) (Object, error) {
	out := Object{"$schema": dialect, "title": title, "description": description}
	maps.Copy(out, what)
	if len(s.defs) > 0 {
		out["$defs"] = s.defs
	}
	return out, s.err
}

// Name is the name of a shape of a mapping with keys: that of its type without
// Spec.
func Name(s *declare.Shape) string {
	t := s.Type
	if t == nil || s.Kind != declare.Mapping || s.Keys == nil && t.Kind() != reflect.Struct {
		return ""
	}
	name := strings.TrimSuffix(t.Name(), "Spec")
	if name == "" { // of the package's own
		name = strings.TrimSuffix(t.PkgPath()[strings.LastIndexByte(t.PkgPath(), '/')+1:], "source")
	}
	return strings.ToLower(name)
}

// Of is the schema of a shape: mappings with keys are definitions of their own.
func (s *Schemas) Of(shape *declare.Shape) Object {
	name := Name(shape)
	if name == "" {
		return s.inline(shape)
	}
	if _, known := s.names[shape.Type]; !known {
		s.names[shape.Type] = name
		if _, taken := s.defs[name]; taken {
			panic("two types are called " + name)
		}
		s.defs[name] = Object{}
		def := s.inline(shape)
		def["description"] = s.note(s.comments.Type(shape))
		s.defs[name] = def
	}
	return Object{"$ref": "#/$defs/" + name}
}

// note keeps the first error.
func (s *Schemas) note(text string, err error) string {
	if s.err == nil {
		s.err = err
	}
	return text
}

func (s *Schemas) inline(shape *declare.Shape) Object {
	switch shape.Kind {
	case declare.Anything:
		return Object{}
	case declare.Union:
		var shapes []any
		for _, one := range shape.Of {
			shapes = append(shapes, s.Of(one))
		}
		return Object{"anyOf": shapes}
	case declare.List:
		return Object{"type": []any{"array", "null"}, "items": s.Of(shape.Items)}
	case declare.Mapping:
		return s.mapping(shape)
	}
	return scalar(shape)
}

// scalar is the schema of a scalar. A text in a file may look like a number.
func scalar(shape *declare.Shape) Object {
	if shape.Pattern != "" {
		number := Object{"const": 0}
		if regexp.MustCompile(shape.Pattern).MatchString("1") {
			number = Object{"type": "integer", "minimum": 1}
		}
		return Object{"anyOf": []any{Object{"type": "string", "pattern": shape.Pattern}, number}}
	}
	types := []any{"string", "number", "boolean"}
	if !shape.Texts {
		switch kind := shape.Type.Kind(); kind {
		case reflect.String, reflect.Struct:
		case reflect.Bool:
			types = []any{"boolean"}
		case reflect.Float32, reflect.Float64:
			types = []any{"number"}
		default:
			types = []any{"integer"}
		}
	}
	if shape.Nullable {
		types = append(types, "null")
	}
	if len(types) == 1 {
		return Object{"type": types[0]}
	}
	return Object{"type": types}
}

func (s *Schemas) mapping(shape *declare.Shape) Object {
	if shape.Values != nil {
		return Object{"type": []any{"object", "null"}, "additionalProperties": s.Of(shape.Values)}
	}
	properties, required := Object{}, []any{}
	one, some := map[string][]any{}, map[string][]any{}
	for i := range shape.Keys {
		k := &shape.Keys[i]
		properties[k.Name] = s.key(k, shape)
		needed := Object{"required": []any{k.Name}}
		if k.Required {
			required = append(required, k.Name)
		}
		if k.One != "" {
			one[k.One] = append(one[k.One], needed)
		}
		if k.Any != "" {
			some[k.Any] = append(some[k.Any], needed)
		}
	}
	out := Object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	} else if len(one) == 0 && len(some) == 0 {
		out["type"] = []any{"object", "null"}
	}
	for _, group := range one {
		out["oneOf"] = group
	}
	for _, group := range some {
		out["anyOf"] = group
	}
	return out
}

func (s *Schemas) key(k *declare.Key, of *declare.Shape) Object {
	out := s.Of(k.Shape)
	out["description"] = s.note(s.comments.Key(k, of))
	if k.Enum != nil {
		delete(out, "type")
		out["enum"] = enum(k)
	}
	if k.Least != "" {
		out["minimum"] = number(k.Least)
	}
	if k.Most != "" {
		out["maximum"] = number(k.Most)
	}
	return out
}

// enum lists the values as JSON has them.
func enum(k *declare.Key) []any {
	var out []any
	for _, v := range k.Enum {
		if k.Shape.Type.Kind() == reflect.Int {
			out = append(out, number(v))
		} else {
			out = append(out, v)
		}
	}
	return out
}

func number(text string) any {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	f, _ := strconv.ParseFloat(text, 64) // a literal of the program
	return f
}
