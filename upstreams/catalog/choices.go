package catalog

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams/declare"
)

// Choice is one of the values that a parameter allows, with its name.
type Choice struct{ Value, EN, ZH string }

// choicesMax is the most values that a list for callers to choose from may have.
const choicesMax = 64

// choiceSpecs name the values of a parameter, in the order in which they are shown.
type choiceSpecs []declare.Member[declare.Words]

// UnmarshalYAML takes a mapping of values to names, in its order.
func (s *choiceSpecs) UnmarshalYAML(n *yaml.Node) (err error) {
	*s, err = declare.Members[declare.Words](n)
	return err
}

// Shape implements declare.Shaped.
func (choiceSpecs) Shape(of func(any) *declare.Shape) *declare.Shape {
	return &declare.Shape{Kind: declare.Mapping, What: "names by value", Example: `{"1": {en: Cats, zh: 猫}}`, Values: of(declare.Words{})}
}

// compileChoices checks that the choices name every value that is allowed, and no
// other.
func (p *Param) compileChoices(problems *declare.Problems) {
	if len(p.Spec.Choices) == 0 {
		return
	}
	line, allowed := p.Spec.Choices[0].Name.Line, p.listedValues()
	if allowed == nil {
		problems.Add(line, "param %s: choices: expected beside an enum, forms, or an int of at most %d values", p.Name, choicesMax)
		return
	}
	for _, c := range p.Spec.Choices {
		value, names := c.Name.Value, c.Value
		if !slices.Contains(allowed, value) {
			problems.Add(c.Name.Line, "param %s: choices: expected only values that are allowed and each of them once, got %q", p.Name, value)
		}
		allowed = slices.DeleteFunc(allowed, func(v string) bool { return v == value })
		p.Choices = append(p.Choices, Choice{value, names.EN(), names.ZH()})
	}
	if len(allowed) > 0 {
		problems.Add(line, "param %s: choices: expected a name for every value, without one are %s", p.Name, strings.Join(allowed, ", "))
	}
}

// listedValues are the values of a parameter that has few; nil: it has others.
func (p *Param) listedValues() []string {
	s := &p.Spec
	if len(s.Enum) > 0 {
		return slices.Clone(s.Enum)
	}
	if p.Type != "int" || s.Min == nil || s.Max == nil || *s.Max-*s.Min >= choicesMax {
		return nil
	}
	var all []string
	for n := *s.Min; n <= *s.Max; n++ {
		all = append(all, strconv.Itoa(n))
	}
	for _, n := range s.Also {
		all = append(all, strconv.Itoa(n))
	}
	return all
}
