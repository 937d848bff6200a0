package apidoc

import (
	"fmt"
	"strconv"
	"strings"

	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/plainjson"
)

// Value is a value of a query in the type that the schema has.
func Value(p *catalog.Param, value string) any {
	if n, err := strconv.Atoi(value); err == nil && p.Type == "int" {
		return n
	}
	return value
}

// Titled is a value with its name, unless that says it all.
func Titled(l i18n.Language, value, name string) string {
	switch {
	case name == "":
		return value
	case strings.EqualFold(name, value), strings.HasPrefix(name, value):
		return name
	}
	return value + l.Say(": ", "：") + name
}

// Schema describes the values that are allowed of a parameter, as JSON Schema in a language.
func Schema(e *catalog.Endpoint, p *catalog.Param, l i18n.Language) plainjson.Object {
	spec := &p.Spec
	s := plainjson.Object{{Name: "type", Value: "string"}}
	add := func(name string, value any) { s = append(s, plainjson.Member{Name: name, Value: value}) }
	switch {
	case len(spec.Enum) > 0:
		add("enum", spec.Enum)
	case p.Type == "int":
		s = integer(*spec.Min, *spec.Max, spec.Also)
	case p.Type == "digits":
		add("pattern", digitsPattern(spec.MinLen, spec.MaxLen, spec.LeadingZero))
	case p.Type == "string", p.Role == catalog.RoleTail:
		add("minLength", max(1, spec.MinLen))
		add("maxLength", p.MaxLen())
	default:
		add("description", l.Of(p.Allowed))
	}
	if v, ok := defaultOf(e, p); ok {
		add("default", v)
	}
	return s
}

// defaultOf is the value that an absent parameter has.
func defaultOf(e *catalog.Endpoint, p *catalog.Param) (value any, ok bool) {
	if p.Spec.Default != nil {
		return Value(p, p.Spec.Default.Value), true
	}
	if v, ok := p.ValueFor(e.Forms[0].Name); ok {
		return v, true
	}
	return nil, false
}

func digitsPattern(low, high int, leadingZero bool) string {
	if leadingZero {
		return fmt.Sprintf("^[0-9]{%d,%d}$", low, high)
	}
	return fmt.Sprintf("^[1-9][0-9]{%d,%d}$", low-1, high-1)
}

func integer(low, high int, also []int) plainjson.Object {
	s := plainjson.Object{{Name: "type", Value: "integer"}}
	if len(also) == 0 {
		return append(s, plainjson.Member{Name: "minimum", Value: low}, plainjson.Member{Name: "maximum", Value: high})
	}
	return append(s, plainjson.Member{Name: "anyOf", Value: []any{
		map[string]any{"minimum": low, "maximum": high}, map[string]any{"enum": also},
	}})
}
