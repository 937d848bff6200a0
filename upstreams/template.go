package upstreams

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// placeholder is {name} in a URL, a query value or a header.
var placeholder = regexp.MustCompile(`\{([a-z][a-z0-9_]*)\}`)

// template is a text with placeholders, cut up at load.
type template struct {
	literal []string // one more than names
	names   []string
}

// compileTemplate checks every placeholder against the declared names.
func compileTemplate(t Text, declared map[string]bool, problems *Problems) template {
	var out template
	at := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(t.Value, -1) {
		name := t.Value[m[2]:m[3]]
		if !declared[name] {
			problems.Add(t.Line, "placeholder {%s}: no parameter, var or secret of that name", name)
		}
		out.literal = append(out.literal, t.Value[at:m[0]])
		out.names = append(out.names, name)
		at = m[1]
	}
	out.literal = append(out.literal, t.Value[at:])
	return out
}

// escapeLiterals encodes what stands between the placeholders, once.
func (t template) escapeLiterals(escape func(string) string) {
	for i, s := range t.literal {
		t.literal[i] = escape(s)
	}
}

// render fills the placeholders, each value passed through escape.
func (t template) render(values map[string]any, escape func(string) string) string {
	if len(t.names) == 0 {
		return t.literal[0]
	}
	var b strings.Builder
	for i, name := range t.names {
		b.WriteString(t.literal[i])
		b.WriteString(escape(asText(values[name])))
	}
	b.WriteString(t.literal[len(t.names)])
	return b.String()
}

// asText writes a value as it stands in a URL; an absent one is empty.
func asText(v any) string {
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

// escapePath keeps a value within its path segment: dots alone would climb.
func escapePath(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return url.PathEscape(s)
}

// escapeHeader keeps a value within its header line.
func escapeHeader(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}
