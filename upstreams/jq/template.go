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
	literal []string // one more than names
	names   []string
}

// CompileTemplate checks every placeholder against the names in scope.
func CompileTemplate(t declare.Text, scope *Scope, problems *declare.Problems) Template {
	var out Template
	at := 0
	for _, m := range Placeholder.FindAllStringSubmatchIndex(t.Value, -1) {
		name := t.Value[m[2]:m[3]]
		if !scope.declared[name] {
			problems.Add(t.Line, "placeholder {%s}: no parameter, var or secret of that name", name)
		}
		out.literal = append(out.literal, t.Value[at:m[0]])
		out.names = append(out.names, name)
		at = m[1]
	}
	out.literal = append(out.literal, t.Value[at:])
	return out
}

// IsZero tells a template that was never compiled.
func (t Template) IsZero() bool { return len(t.literal) == 0 }

// Bare tells a template of placeholders alone.
func (t Template) Bare() bool { return strings.Join(t.literal, "") == "" }

// EscapeLiterals encodes what stands between the placeholders, once.
func (t Template) EscapeLiterals(escape func(string) string) {
	for i, s := range t.literal {
		t.literal[i] = escape(s)
	}
}

// Render fills the placeholders, each value passed through escape.
func (t Template) Render(values map[string]any, escape func(string) string) string {
	if len(t.names) == 0 {
		return t.literal[0]
	}
	var b strings.Builder
	for i, name := range t.names {
		b.WriteString(t.literal[i])
		b.WriteString(escape(AsText(values[name])))
	}
	b.WriteString(t.literal[len(t.names)])
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
