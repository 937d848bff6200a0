package catalog

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams/declare"
	"sundry/upstreams/fields"
)

// Field describes a field of an endpoint's JSON answer.
type Field = fields.Field

// fieldSpecs describe fields in the order of the answer.
type fieldSpecs []declare.Member[fieldSpec]

// fieldSpec describes one field.
type fieldSpec struct {
	// EN describes the field in English; without it, the Chinese text stands for both.
	EN string `yaml:"en" example:"The title."`
	// ZH describes the field in Chinese; without it, the English text stands for both.
	ZH string `yaml:"zh" example:"标题。"`
	// Is says what a value is, or each item of a list: a time (RFC 3339 with its zone; Unix
	// seconds become one), a date (2006-01-02), a link (an absolute http or https address), a
	// text, a number, an integer or a boolean. What is something else is null, or missing
	// where it must have a value.
	Is fields.Type `yaml:"is" enum:"time,date,link,text,number,integer,boolean"`
	// Must have a value: where a source's data have none (null, a blank text, an empty list),
	// they are no answer, and the next source is asked. An item of a list is left out instead.
	Must bool `yaml:"must" example:"true"`
	// AtLeast is how many items a list must have.
	AtLeast int `yaml:"at_least" example:"1" least:"0"`
	// Counts names the list beside it whose items it counts.
	Counts declare.Text `yaml:"counts" example:"list"`
	// Fields of an object, or of each item of a list.
	Fields fieldSpecs `yaml:"fields" example:"{name: {en: The name., zh: 名称。}}"`
}

// UnmarshalYAML takes a mapping of names to descriptions, in its order.
func (s *fieldSpecs) UnmarshalYAML(n *yaml.Node) (err error) {
	*s, err = declare.Members[fieldSpec](n)
	return err
}

// Shape implements declare.Shaped.
func (fieldSpecs) Shape(of func(any) *declare.Shape) *declare.Shape {
	return &declare.Shape{Kind: declare.Mapping, What: "fields by name", Example: "{title: {en: The title., zh: 标题。}}", Values: of(fieldSpec{})}
}

// compileFields checks the fields of a file.
func (s *endpointSpec) compileFields(problems *declare.Problems) []*Field {
	if len(s.Fields) > 0 && !slices.ContainsFunc(s.Forms, func(f formSpec) bool { return f.JSON != nil }) {
		problems.Add(s.Fields[0].Name.Line, "fields: expected beside a json form, whose data they describe")
	}
	return s.Fields.compile("", problems)
}

// compile checks the fields of the field at a path, and of those below.
func (s fieldSpecs) compile(path string, problems *declare.Problems) []*Field {
	var out []*Field
	for i := range s {
		name, spec := s[i].Name, &s[i].Value
		about := declare.InLanguages{EN: spec.EN, ZH: spec.ZH}.Text()
		f := &Field{Name: name.Value, EN: about.EN(), ZH: about.ZH(), Is: spec.Is, Must: spec.Must, AtLeast: spec.AtLeast, Counts: spec.Counts.Value}
		at := strings.TrimPrefix(path+"."+f.Name, ".")
		if f.Counts != "" && !slices.ContainsFunc(s, func(o declare.Member[fieldSpec]) bool { return o.Name.Value == f.Counts }) {
			problems.Add(spec.Counts.Line, "fields: %s: counts: expected the name of a list beside it, got %q", at, f.Counts)
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
	s.Fields.each("", func(path string, f *declare.Member[fieldSpec]) {
		if f.Value.EN == "" || f.Value.ZH == "" {
			problems.Add(f.Name.Line, "fields: %s: expected a description in both languages, for example {en: The title., zh: 标题。}", path)
		}
	})
	return problems
}

// poolPath matches an each: program that only says where the candidates are.
var poolPath = regexp.MustCompile(`^\.?((?:\.[A-Za-z_][A-Za-z0-9_]*)*)\[\]$`)

// compileDemands makes of the declared fields what is demanded of the data of sources; nil:
// nothing. The fields are those of the data where the JSON form presents it as it is.
func (s *endpointSpec) compileDemands(declared []*Field, problems *declare.Problems) *fields.Demands {
	i := slices.IndexFunc(s.Forms, func(f formSpec) bool { return f.JSON != nil })
	if i < 0 || len(declared) == 0 {
		return nil
	}
	d := &fields.Demands{Fields: declared}
	plain := strings.TrimSpace(s.Forms[i].JSON.Text) == "."
	if each := s.Forms[i].Each; each != nil {
		found := poolPath.FindStringSubmatch(strings.TrimSpace(each.Text))
		if plain = plain && found != nil; plain {
			d.Pool = append([]string{}, strings.FieldsFunc(found[1], func(r rune) bool { return r == '.' })...)
		}
	}
	if plain {
		return d
	}
	told := false
	s.Fields.each("", func(path string, f *declare.Member[fieldSpec]) {
		if demands := f.Value.Must || f.Value.AtLeast > 0 || f.Value.Counts.Value != ""; demands && !told {
			told = true
			problems.Add(f.Name.Line, "fields: %s: must, at_least and counts are about the data of sources; expected a json form that presents them as they are, for example {name: json, json: .} or {name: json, each: '.list[]', json: .}", path)
		}
	})
	return nil
}

// each calls yield with each field and its path, those above first.
func (s fieldSpecs) each(above string, yield func(path string, f *declare.Member[fieldSpec])) {
	for i := range s {
		path := above + s[i].Name.Value
		yield(path, &s[i])
		s[i].Value.Fields.each(path+".", yield)
	}
}
