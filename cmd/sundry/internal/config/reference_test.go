package config

import (
	"fmt"
	"reflect"
	"strings"

	"sundry/upstreams/declare"
)

// Reference makes a page of all keys of a shape: a section for each mapping with
// keys.
type Reference struct {
	comments *Comments
	b        strings.Builder
	queue    []*declare.Shape
	seen     map[reflect.Type]bool
}

// Sections writes the section of each shape, and of all that they contain, in Markdown.
// Headings are of the second level.
func Sections(c *Comments, all ...*declare.Shape) (string, error) {
	r := &Reference{comments: c, seen: map[reflect.Type]bool{}}
	for _, s := range all {
		r.visit(s)
	}
	for len(r.queue) > 0 {
		next := r.queue[0]
		r.queue = r.queue[1:]
		if err := r.section(next); err != nil {
			return "", err
		}
	}
	return r.b.String(), nil
}

// visit puts the mappings with keys that a shape consists of into the queue.
func (r *Reference) visit(s *declare.Shape) {
	switch {
	case s == nil:
	case Name(s) != "":
		if !r.seen[s.Type] {
			r.seen[s.Type] = true
			r.queue = append(r.queue, s)
		}
	default:
		r.visit(s.Values)
		r.visit(s.Items)
		for _, one := range s.Of {
			r.visit(one)
		}
	}
}

func (r *Reference) section(s *declare.Shape) error {
	about, err := r.comments.Type(s)
	if err != nil {
		return err
	}
	fmt.Fprintf(&r.b, "## %s\n\n%s\n\n", Name(s), escape(about))
	if len(s.Keys) == 0 {
		r.b.WriteString("It has no keys: `{}`.\n\n")
		return nil
	}
	r.b.WriteString("| key | value | meaning | example |\n|---|---|---|---|\n")
	for i := range s.Keys {
		k := &s.Keys[i]
		text, err := r.comments.Key(k, s)
		if err != nil {
			return err
		}
		name := "`" + k.Name + "`"
		if k.Required {
			name += " (required)"
		}
		fmt.Fprintf(&r.b, "| %s | %s | %s | %s |\n", name, cell(value(k)), cell(text+groups(k, s)), cell(example(k)))
		r.visit(k.Shape)
	}
	r.b.WriteString("\n")
	return nil
}

// value says what a key may have.
func value(k *declare.Key) string {
	if len(k.Enum) > 0 {
		return "`" + strings.Join(k.Enum, "`, `") + "`"
	}
	text := Value(k.Shape)
	if k.Least != "" {
		text += " from " + k.Least
	}
	if k.Most != "" {
		text += " to " + k.Most
	}
	return text
}

// Value says in Markdown what a shape is, with links to sections.
func Value(s *declare.Shape) string {
	if name := Name(s); name != "" {
		return fmt.Sprintf("[%s](#%s)", name, name)
	}
	switch s.Kind {
	case declare.Anything:
		return "anything"
	case declare.Union:
		parts := make([]string, len(s.Of))
		for i, one := range s.Of {
			parts[i] = Value(one)
		}
		return strings.Join(parts, ", or ")
	case declare.List:
		return "list of " + Value(s.Items)
	case declare.Mapping:
		return "mapping of names to " + Value(s.Values)
	}
	what := strings.TrimPrefix(s.What, "a ")
	what, _, _ = strings.Cut(what, " such as ")
	return strings.TrimSuffix(what, ",")
}

// groups says which keys exclude each other.
func groups(k *declare.Key, of *declare.Shape) string {
	if k.One == "" || k.Owner == nil {
		return ""
	}
	var names []string
	for i := range of.Keys {
		if of.Keys[i].One == k.One && of.Keys[i].Name != k.Name {
			names = append(names, "`"+of.Keys[i].Name+"`")
		}
	}
	return " Not with " + strings.Join(names, ", ") + "."
}

// exampleOf is the key with a value, as a file has it; "" where there is no telling.
func exampleOf(k *declare.Key) string {
	v := k.Example
	switch {
	case v != "":
	case len(k.Enum) > 0:
		v = k.Enum[0]
	case k.Shape.Kind == declare.Mapping && k.Shape.Values == nil && len(k.Shape.Keys) == 0:
		v = "{}"
	case k.Shape.Kind == declare.Mapping && k.Owner == nil:
		v = inner(k.Shape)
	case k.Shape.Type != nil && k.Shape.Type.Kind() == reflect.Bool:
		v = "true"
	default:
		return ""
	}
	return k.Name + ": " + v
}

// inner is a mapping with what it has to have, or else with its first key.
func inner(s *declare.Shape) string {
	var parts []string
	for i := range s.Keys {
		if s.Keys[i].Required {
			parts = append(parts, exampleOf(&s.Keys[i]))
		}
	}
	if parts == nil {
		parts = append(parts, exampleOf(&s.Keys[0]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func example(k *declare.Key) string {
	text := exampleOf(k)
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// cell escapes what would end a cell of a table.
func cell(text string) string { return strings.ReplaceAll(escape(text), "|", "\\|") }

// escape escapes what Markdown would take for a tag.
func escape(text string) string { return strings.ReplaceAll(text, "<", "\\<") }
