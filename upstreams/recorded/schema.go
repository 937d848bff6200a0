package recorded

import (
	"slices"
	"strings"

	"sundry/upstreams/catalog"
	"sundry/upstreams/fields"
	"sundry/upstreams/plainjson"
	"sundry/upstreams/shape"
)

// Shape is that of the data of answers, which declared fields describe.
type Shape shape.Shape

// values is the shape without what is declared.
func (s *Shape) values() *shape.Shape { return (*shape.Shape)(s) }

// has reports whether there are values of a type.
func (s *Shape) has(typ string) bool { return slices.Contains(s.values().Types(), typ) }

// Schema is the shape in JSON Schema's words (2020-12, as OpenAPI 3.1 has it). The
// fields say what the values mean, in which order they come, and that they are always
// there; nil: that is not declared.
func (s *Shape) Schema(fields []*catalog.Field) map[string]any {
	return s.SchemaIn(fields, func(en, zh string) string { return strings.TrimSpace(en + " " + zh) })
}

// SchemaIn is Schema with descriptions of say's choice.
func (s *Shape) SchemaIn(fields []*catalog.Field, say func(en, zh string) string) map[string]any {
	d := describer{say}
	return d.schema(s, &catalog.Field{Fields: fields})
}

// describer writes schemas in the words of say.
type describer struct {
	say func(en, zh string) string
}

func (d describer) schema(s *Shape, f *catalog.Field) map[string]any {
	schema := map[string]any{}
	if about := d.say(f.EN, f.ZH); about != "" {
		schema["description"] = about
	}
	d.describe(schema, s, f)
	return schema
}

// describe adds everything but the description: that of a list is not repeated at
// its items.
func (d describer) describe(schema map[string]any, s *Shape, f *catalog.Field) {
	switch types := s.Types(f); len(types) {
	case 0: // nothing is known
	case 1:
		schema["type"] = types[0]
	default:
		schema["type"] = types
	}
	if s.has("array") {
		items, of := map[string]any{}, *f
		of.Must = true // an item that has no value is left out
		d.describe(items, s.Items(), &of)
		schema["items"] = items
	}
	switch format := formatOf(f.Is); {
	case s.has("array"):
	case format != "":
		schema["format"] = format
	case s.has("number") && !s.has("string"):
		schema["format"] = "double" // generators take half of that for any number
	}
	if !s.has("object") {
		return
	}
	properties, required := d.properties(s, f.Fields)
	schema["properties"] = properties
	if len(required) > 0 {
		schema["required"] = required
	}
}

// Items is the shape of an array's items; one of nothing if there are none.
func (s *Shape) Items() *Shape { return (*Shape)(s.values().Items()) }

// Field is the shape of a field of an object, or of the objects in an array; one of
// nothing if it is not known.
func (s *Shape) Field(name string) *Shape {
	for s.has("array") {
		s = s.Items()
	}
	field, _ := s.values().Field(name)
	return (*Shape)(field)
}

// Types are the types that occur, null as the last: where it was seen, and where a declared
// value may be missing; not where the field must have a value. What was never seen but as
// null is whatever its field says.
func (s *Shape) Types(f *catalog.Field) []string {
	types := slices.DeleteFunc(s.values().Types(), func(t string) bool { return t == "null" })
	switch {
	case len(types) == 0 && f.Is != "":
		types = append(types, typeOf(f.Is))
	case len(types) == 0:
		return nil
	}
	if !f.Must && (s.has("null") || f.MayBeMissing() && !s.has("array")) {
		types = append(types, "null")
	}
	return types
}

// properties are the declared fields in their order, then the others by name.
func (d describer) properties(s *Shape, fields []*catalog.Field) (properties plainjson.Object, required []string) {
	declared := map[string]bool{}
	for _, f := range fields {
		declared[f.Name] = true
		properties = append(properties, plainjson.Member{Name: f.Name, Value: d.schema(s.Field(f.Name), f)})
		required = append(required, f.Name)
	}
	for _, name := range s.values().Names() {
		if declared[name] {
			continue
		}
		field, always := s.values().Field(name)
		properties = append(properties, plainjson.Member{Name: name, Value: d.schema((*Shape)(field), &catalog.Field{})})
		if always {
			required = append(required, name)
		}
	}
	return properties, required
}

// typeOf is JSON Schema's name of the type.
func typeOf(is fields.Type) string {
	switch is {
	case fields.Number, fields.Integer:
		return "number"
	case fields.Boolean:
		return "boolean"
	}
	return "string"
}

// formatOf is JSON Schema's name of what a text is; "" for none.
func formatOf(is fields.Type) string {
	switch is {
	case fields.Time:
		return "date-time"
	case fields.Date:
		return "date"
	case fields.Link:
		return "uri"
	}
	return ""
}
