package catalog

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
)

// Field describes a field of an endpoint's JSON answer.
type Field struct {
	Name, EN, ZH string
	// Is says what its text holds: a time (RFC 3339, with its zone), a date
	// (2006-01-02) or a link (an absolute http or https URL). "" is anything.
	Is string
	// Fields of its value or, if that is a list, of each item.
	Fields []*Field
}

// The values of Field.Is.
const (
	IsTime = "time"
	IsDate = "date"
	IsLink = "link"
)

// fieldSpecs describe fields in the order of the answer.
type fieldSpecs []namedField

type namedField struct {
	name declare.Text
	fieldSpec
}

// fieldSpec describes one field.
type fieldSpec struct {
	// EN describes the field in English.
	EN string `yaml:"en" example:"The title."`
	// ZH describes the field in Chinese.
	ZH string `yaml:"zh" example:"标题。"`
	// Is says what a text holds: a time (RFC 3339 with its zone), a date (2006-01-02) or a
	// link (an absolute http or https address).
	Is declare.Text `yaml:"is" enum:"time,date,link"`
	// Fields of an object, or of each item of a list.
	Fields fieldSpecs `yaml:"fields" example:"{name: {en: The name., zh: 名称。}}"`
}

// UnmarshalYAML takes a mapping of names to descriptions, in its order.
func (s *fieldSpecs) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return errors.New("expected fields by name, for example {title: {en: The title., zh: 标题。}}")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		var f namedField
		if err := n.Content[i].Load(&f.name); err != nil {
			return err
		}
		if err := n.Content[i+1].Load(&f.fieldSpec); err != nil {
			return err
		}
		*s = append(*s, f)
	}
	return nil
}

// Shape implements declare.Shaped.
func (fieldSpecs) Shape(of func(any) *declare.Shape) *declare.Shape {
	return &declare.Shape{Kind: declare.Mapping, What: "fields by name", Example: "{title: {en: The title., zh: 标题。}}", Values: of(fieldSpec{})}
}

// compileFields checks the fields of a file.
func (s *endpointSpec) compileFields(problems *declare.Problems) []*Field {
	if len(s.Fields) > 0 && !slices.ContainsFunc(s.Forms, func(f formSpec) bool { return f.JSON != nil }) {
		problems.Add(s.Fields[0].name.Line, "fields: expected beside a json form, whose data they describe")
	}
	return s.Fields.compile("", problems)
}

// compile checks the fields of the field at a path, and of those below.
func (s fieldSpecs) compile(path string, problems *declare.Problems) []*Field {
	var out []*Field
	for i := range s {
		spec := &s[i]
		f := &Field{Name: spec.name.Value, EN: spec.EN, ZH: spec.ZH, Is: spec.Is.Value}
		at := strings.TrimPrefix(path+"."+f.Name, ".")
		if slices.ContainsFunc(out, func(o *Field) bool { return o.Name == f.Name }) {
			problems.Add(spec.name.Line, "fields: %s: declared twice", at)
		}
		if (f.EN == "") != (f.ZH == "") {
			problems.Add(spec.name.Line, "fields: %s: expected both languages or none, for example {en: The title., zh: 标题。}", at)
		}
		if is := []string{"", IsTime, IsDate, IsLink}; !slices.Contains(is, f.Is) {
			problems.Add(spec.Is.Line, "fields: %s: is: expected %s, got %q", at, strings.Join(is[1:], ", "), f.Is)
		}
		f.Fields = spec.Fields.compile(at, problems)
		out = append(out, f)
	}
	return out
}

// undescribedFields lists the fields of a file of which nothing says what they are, and
// the JSON form without any. A file that comes with the program may have none of them.
func (s *endpointSpec) undescribedFields() declare.Problems {
	var problems declare.Problems
	for i := range s.Forms {
		if form := &s.Forms[i]; form.JSON != nil && len(s.Fields) == 0 {
			problems.Add(form.line(), "form %q: fields: expected a description of the fields of its data, for example {title: {en: The title., zh: 标题。}}", form.Name.Value)
		}
	}
	s.Fields.undescribed("", &problems)
	return problems
}

func (s fieldSpecs) undescribed(path string, problems *declare.Problems) {
	for i := range s {
		f := &s[i]
		at := strings.TrimPrefix(path+"."+f.name.Value, ".")
		if f.EN == "" && f.ZH == "" {
			problems.Add(f.name.Line, "fields: %s: expected a description in both languages, for example {en: The title., zh: 标题。}", at)
		}
		f.Fields.undescribed(at, problems)
	}
}

// orderOf is the order of declared fields. It is the same in an object and in
// the items of a list.
func orderOf(fields []*Field) *jq.Fields {
	var out *jq.Fields
	for _, f := range fields {
		out = out.With(f.Name, orderOf(f.Fields))
	}
	out = out.Declare()
	return out.WithItems(out)
}
