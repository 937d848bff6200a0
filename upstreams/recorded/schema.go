package recorded

import (
	"slices"
	"strings"

	"sundry/upstreams/catalog"
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
	return s.schema(&catalog.Field{Fields: fields})
}

func (s *Shape) schema(f *catalog.Field) map[string]any {
	schema := map[string]any{}
	if about := strings.TrimSpace(f.EN + " " + f.ZH); about != "" {
		schema["description"] = about
	}
	s.describe(schema, f)
	return schema
}

// describe adds everything but the description: that of a list is not repeated at
// its items.
func (s *Shape) describe(schema map[string]any, f *catalog.Field) {
	switch types := s.Types(f); len(types) {
	case 0: // nothing is known
	case 1:
		schema["type"] = types[0]
	default:
		schema["type"] = types
	}
	if s.has("array") {
		items := map[string]any{}
		s.Items().describe(items, f)
		schema["items"] = items
	}
	if format := formatOf(f.Is); format != "" && !s.has("array") {
		schema["format"] = format
	}
	if !s.has("object") {
		return
	}
	properties, required := s.properties(f.Fields)
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

// Types are the types that occur, null as the last. What was never seen but as
// null is whatever its field says.
func (s *Shape) Types(f *catalog.Field) []string {
	types := slices.DeleteFunc(s.values().Types(), func(t string) bool { return t == "null" })
	switch {
	case len(types) == 0 && f.Is != "":
		types = append(types, "string")
	case len(types) == 0:
		return nil
	}
	if s.has("null") {
		types = append(types, "null")
	}
	return types
}

// properties are the declared fields in their order, then the others by name.
func (s *Shape) properties(fields []*catalog.Field) (properties plainjson.Object, required []string) {
	declared := map[string]bool{}
	for _, f := range fields {
		declared[f.Name] = true
		properties = append(properties, plainjson.Member{Name: f.Name, Value: s.Field(f.Name).schema(f)})
		required = append(required, f.Name)
	}
	for _, name := range s.values().Names() {
		if declared[name] {
			continue
		}
		field, always := s.values().Field(name)
		properties = append(properties, plainjson.Member{Name: name, Value: (*Shape)(field).schema(&catalog.Field{})})
		if always {
			required = append(required, name)
		}
	}
	return properties, required
}

// formatOf is JSON Schema's name of what a text is; "" for none.
func formatOf(is string) string {
	switch is {
	case catalog.IsTime:
		return "date-time"
	case catalog.IsDate:
		return "date"
	case catalog.IsLink:
		return "uri"
	}
	return ""
}
