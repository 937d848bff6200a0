package httpsource

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"
	"go.yaml.in/yaml/v4"

	"sundry/upstreams/declare"
)

// Selection is what is selected of an HTML page or an XML document: a CSS selector, for the text of the
// first element that it matches, or a mapping that says more.
type Selection struct{ SelectionSpec }

// SelectionSpec says what is selected of a page or document, or of an element of it. What is
// not there is null.
type SelectionSpec struct {
	// CSS is the selector of an element; without one, it is the page or element itself.
	CSS declare.Text `yaml:"css" example:"\"meta[property='og:title']\""`
	// Attr is the attribute to take; without one, it is the text, with white space
	// collapsed.
	Attr string `yaml:"attr" example:"content"`
	// Link makes the value an absolute http or https address; other values are null.
	Link bool `yaml:"link"`
	// Each is the selector of elements, each of which is an item of a list.
	Each declare.Text `yaml:"each" example:"ul.list > li"`
	// Fields make an object of the element, or of each item.
	Fields map[string]Selection `yaml:"fields" example:"{name: h2, url: {css: a, attr: href, link: true}}"`
}

// UnmarshalYAML reads a selector, or a mapping.
func (s *Selection) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return s.CSS.UnmarshalYAML(n)
	}
	return n.Load(&s.SelectionSpec)
}

// Shape implements declare.Shaped.
func (Selection) Shape(of func(any) *declare.Shape) *declare.Shape {
	return &declare.Shape{Kind: declare.Union, Of: []*declare.Shape{of(declare.Text{}), of(SelectionSpec{})}}
}

// hash changes with what is selected, and not with where that stands in a file.
func hashOf(selections map[string]Selection) [sha256.Size]byte {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(selections)) {
		s := selections[name]
		_, _ = fmt.Fprintf(h, "%q %q %q %v %q %x\n", name, s.CSS.Value, s.Attr, s.Link, s.Each.Value, hashOf(s.Fields)) // a hash never fails
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// selected is a compiled Selection.
type selected struct {
	css    cascadia.SelectorGroup // nil: the element itself
	each   cascadia.SelectorGroup // nil: one value
	attr   string
	link   bool
	fields []namedSelection // nil: a text
}

type namedSelection struct {
	name string
	selected
}

// compileSelections compiles selectors. Mistakes go to problems.
func compileSelections(all map[string]Selection, problems *declare.Problems) []namedSelection {
	var out []namedSelection
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		out = append(out, namedSelection{name, selected{
			css: compileSelector(name, s.CSS, problems), each: compileSelector(name, s.Each, problems),
			attr: strings.ToLower(s.Attr), link: s.Link, fields: compileSelections(s.Fields, problems),
		}})
		line := max(s.CSS.Line, s.Each.Line)
		if len(s.Fields) > 0 && (s.Attr != "" || s.Link) {
			problems.Add(line, "select: %s: fields and attr: expected only one of them", name)
		}
		if s.Each.Value != "" && s.CSS.Value != "" {
			problems.Add(line, "select: %s: each and css: expected only one of them", name)
		}
	}
	return out
}

func compileSelector(name string, css declare.Text, problems *declare.Problems) cascadia.SelectorGroup {
	if css.Value == "" {
		return nil
	}
	group, err := cascadia.ParseGroup(css.Value)
	if err != nil {
		problems.Add(css.Line, "select: %s: expected a CSS selector, for example ul.list > li, or item > media\\:content of XML, got %q: %v", name, css.Value, err)
	}
	return group
}
