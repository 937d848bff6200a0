package jq

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sundry/upstreams/declare"
)

// Placeholder matches {name} in a template.
var Placeholder = regexp.MustCompile(`\{([a-z][a-z0-9_]*)\}`)

// Template is a compiled text with placeholders, such as a URL or a header's value.
type Template struct {
	literal []string // one more than names
	names   []string
}

// CompileTemplate compiles a template. A placeholder of a name that is not in scope
// is added to problems.
func CompileTemplate(t declare.Text, scope *Scope, problems *declare.Problems) Template {
	var out Template
	end := 0 // of the last placeholder
	for _, m := range Placeholder.FindAllStringSubmatchIndex(t.Value, -1) {
		name := t.Value[m[2]:m[3]]
		if !scope.declared[name] {
			problems.Add(t.Line, "placeholder {%s}: not found; expected the name of a parameter, var, step or secret%s", name, declare.Suggestion(name, slices.Sorted(maps.Keys(scope.declared))))
		}
		scope.noteName(name)
		out.literal = append(out.literal, t.Value[end:m[0]])
		out.names = append(out.names, name)
		end = m[1]
	}
	out.literal = append(out.literal, t.Value[end:])
	out.checkLiterals(t, problems)
	return out
}

// stray matches what was meant as a placeholder, and is none: {Id}, { id }, {page-no}, and
// {id without its end.
var stray = regexp.MustCompile(`\{\s*([A-Za-z][A-Za-z0-9_.-]*)\s*(\}|$|[/?&])`)

// checkLiterals reports text that was meant as a placeholder. It would be sent as it is.
func (t *Template) checkLiterals(of declare.Text, problems *declare.Problems) {
	for i, literal := range t.literal {
		last := i == len(t.names)
		switch m := stray.FindStringSubmatch(literal); {
		case m != nil:
			problems.Add(of.Line, "%q: {%s: expected {%s}, a name of lower-case letters, digits and underscores between braces", of.Value, m[1], namedLike(m[1]))
		case !last && strings.HasSuffix(literal, "{") && strings.HasPrefix(t.literal[i+1], "}"):
			problems.Add(of.Line, "%q: {{%s}}: expected single braces, {%s}", of.Value, t.names[i], t.names[i])
		case !last && strings.HasSuffix(literal, "$"):
			problems.Add(of.Line, "%q: ${%s}: expected no $ before it, {%s}", of.Value, t.names[i], t.names[i])
		}
	}
}

// namedLike is a name as placeholders have it.
func namedLike(text string) string {
	return strings.ToLower(strings.NewReplacer("-", "_", ".", "_").Replace(text))
}

// IsZero reports whether the template was never compiled.
func (t Template) IsZero() bool { return len(t.literal) == 0 }

// IsLiteral reports whether the template has no placeholders.
func (t Template) IsLiteral() bool { return len(t.names) == 0 }

// OnlyPlaceholders reports whether there is no text beside the placeholders.
func (t Template) OnlyPlaceholders() bool { return strings.Join(t.literal, "") == "" }

// EscapeLiterals escapes the text between the placeholders. Call it once, before the
// template is rendered.
func (t Template) EscapeLiterals(escape func(string) string) {
	for i, s := range t.literal {
		t.literal[i] = escape(s)
	}
}

// Render fills the placeholders. Each value is escaped, and a missing one is empty.
func (t Template) Render(values map[string]any, escape func(string) string) string {
	if len(t.names) == 0 {
		return t.literal[0]
	}
	var few [8]string
	parts := few[:0]
	for i, name := range t.names {
		parts = append(parts, t.literal[i], escape(AsText(values[name])))
	}
	return strings.Join(append(parts, t.literal[len(t.names)]), "")
}

// AsText writes a value as in a URL: a string as it is, a whole number without
// decimals, nil as "".
func AsText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	case float64:
		return strings.TrimSuffix(fmt.Sprintf("%f", v), ".000000")
	}
	return fmt.Sprint(v)
}

// EscapePath keeps a value within its path segment. "." and ".." are escaped too,
// which would otherwise be resolved to another path.
func EscapePath(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return url.PathEscape(s)
}

// EscapeHeader keeps a value within its header line, by removing control characters.
func EscapeHeader(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}
