package jq

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"sundry/upstreams/declare"
)

// Placeholder is {name} in a URL, a query value or a header.
var Placeholder = regexp.MustCompile(`\{([a-z][a-z0-9_]*)\}`)

// Template is a text with placeholders, cut up at load.
type Template struct {
	Literal []string // one more than names
	Names   []string
}

// CompileTemplate checks every placeholder against the declared names.
func CompileTemplate(t declare.Text, declared map[string]bool, problems *declare.Problems) Template {
	var out Template
	at := 0
	for _, m := range Placeholder.FindAllStringSubmatchIndex(t.Value, -1) {
		name := t.Value[m[2]:m[3]]
		if !declared[name] {
			problems.Add(t.Line, "placeholder {%s}: no parameter, var or secret of that name", name)
		}
		out.Literal = append(out.Literal, t.Value[at:m[0]])
		out.Names = append(out.Names, name)
		at = m[1]
	}
	out.Literal = append(out.Literal, t.Value[at:])
	return out
}

// EscapeLiterals encodes what stands between the placeholders, once.
func (t Template) EscapeLiterals(escape func(string) string) {
	for i, s := range t.Literal {
		t.Literal[i] = escape(s)
	}
}

// Render fills the placeholders, each value passed through escape.
func (t Template) Render(values map[string]any, escape func(string) string) string {
	if len(t.Names) == 0 {
		return t.Literal[0]
	}
	var b strings.Builder
	for i, name := range t.Names {
		b.WriteString(t.Literal[i])
		b.WriteString(escape(AsText(values[name])))
	}
	b.WriteString(t.Literal[len(t.Names)])
	return b.String()
}

// AsText writes a value as it stands in a URL; an absent one is empty.
func AsText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strings.TrimSuffix(fmt.Sprintf("%f", v), ".000000")
	}
	return fmt.Sprint(v)
}

// EscapePath keeps a value within its path segment: dots alone would climb.
func EscapePath(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return url.PathEscape(s)
}

// EscapeHeader keeps a value within its header line.
func EscapeHeader(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}
