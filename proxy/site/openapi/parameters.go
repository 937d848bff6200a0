package openapi

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
	"sundry/upstreams/fixtures"
	"sundry/upstreams/lib/plainjson"
)

// parameter is one of the query.
type parameter struct {
	Name        string           `json:"name"`
	In          string           `json:"in"`
	Description string           `json:"description"`
	Required    bool             `json:"required"`
	Schema      plainjson.Object `json:"schema"`
	Examples    plainjson.Object `json:"examples,omitempty"`
	// Personal marks what is personal data.
	Personal bool `json:"x-personal,omitempty"`
}

// example is one of several.
type example struct {
	Summary string `json:"summary"`
	Value   any    `json:"value"`
}

// parameters describes the query, without hidden parameters.
func (o *operation) parameters() []any {
	out := []any{}
	for _, p := range o.Params {
		if !p.Derived() {
			out = append(out, o.parameter(p))
		}
	}
	if !slices.ContainsFunc(o.Params, func(p *catalog.Param) bool { return p.Name == i18n.Parameter }) {
		out = append(out, ref("parameters", i18n.Parameter))
	}
	return out
}

func (o *operation) parameter(p *catalog.Param) parameter {
	return parameter{
		Name: p.Name, In: "query", Description: o.about(p), Required: p.Required, Personal: p.Personal,
		Schema: o.schemaOf(p), Examples: o.examplesOf(p),
	}
}

// about says what a parameter is for and, where its values have names, what they mean.
func (o *operation) about(p *catalog.Param) string {
	text := o.say(p.EN, p.ZH)
	if p.Personal {
		text = strings.TrimSpace(text + o.say(" Personal data: it is not logged, and caches hold a hash of it.", "（个人信息：不写入日志，缓存中只保存其哈希。）"))
	}
	for i, c := range p.Choices {
		if i == 0 {
			text += "\n"
		}
		text += "\n- `" + c.Value + "`" + o.say(": "+c.EN, "："+c.ZH)
	}
	return strings.TrimSpace(text)
}

// languageParameter chooses the language of errors.
func (w *writer) languageParameter() parameter {
	var names []string
	for _, l := range i18n.All() {
		names = append(names, l.String())
	}
	return parameter{
		Name: i18n.Parameter, In: "query",
		Description: w.say("Language of error messages. It wins over `Accept-Language`; without either they are in English.", "错误信息的语言，优先于 `Accept-Language`；两者都没有时为英文。"),
		Schema:      plainjson.Object{{Name: "type", Value: "string"}, {Name: "enum", Value: names}},
		Examples:    plainjson.Object{{Name: "zh", Value: example{w.say("Chinese", "中文"), "zh"}}},
	}
}

// examplesOf are the parameter's values in the example calls.
func (o *operation) examplesOf(p *catalog.Param) plainjson.Object {
	var out plainjson.Object
	var seen []string
	for _, c := range fixtures.Calls(o.Endpoint) {
		values, err := url.ParseQuery(c.Query)
		v := values.Get(p.Name)
		if err != nil || v == "" || slices.Contains(seen, v) {
			continue
		}
		seen = append(seen, v)
		out = append(out, plainjson.Member{Name: "call" + strconv.Itoa(len(seen)), Value: example{o.say(c.EN, c.ZH), typed(p, v)}})
	}
	if len(out) == 0 {
		out = plainjson.Object{{Name: "example", Value: example{o.say("A value", "示例值"), typed(p, p.Example)}}}
	}
	return out
}

// typed converts a value to the type in the schema.
func typed(p *catalog.Param, value string) any {
	if n, err := strconv.Atoi(value); err == nil && p.Type == "int" {
		return n
	}
	return value
}

// schemaOf describes the values that are allowed.
func (o *operation) schemaOf(p *catalog.Param) plainjson.Object {
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
		add("description", o.Language.Of(p.Allowed))
	}
	if v, ok := o.defaultOf(p); ok {
		add("default", v)
	}
	return s
}

// defaultOf is the value that an absent parameter has.
func (o *operation) defaultOf(p *catalog.Param) (value any, ok bool) {
	if p.Spec.Default != nil {
		return typed(p, p.Spec.Default.Value), true
	}
	if v, ok := p.ValueFor(o.Forms[0].Name); ok {
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
	return append(s, plainjson.Member{Name: "anyOf", Value: []any{object{"minimum": low, "maximum": high}, object{"enum": also}}})
}
