// Package declare holds the values of catalog files that know their line:
// texts, jq programs and durations. A mistake is reported with the line of the
// file it is in, and one check reports all mistakes.
package declare

import (
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"sundry/metrics/words"
)

// Expr is a jq program in a catalog file.
type Expr struct {
	Text string
	Line int // of its first character, in the file
}

// UnmarshalYAML reads a scalar and notes its line.
func (e *Expr) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return words.NewError("expected a jq program in a string, for example map: .data", "应为文本中的 jq 程序，例如 map: .data")
	}
	e.Text, e.Line = n.Value, n.Line
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		e.Line++
	}
	return nil
}

// At is the line of a place in the program, with its column and the text there, as in
// `, at column 6 of ".x | |"`; a negative place is not known.
func (e *Expr) At(place int) (line int, where words.Text) {
	if place < 0 || place > len(e.Text) {
		return e.Line, where
	}
	before := e.Text[:place]
	begin := strings.LastIndexByte(before, '\n') + 1
	text, _, _ := strings.Cut(e.Text[begin:], "\n")
	return e.Line + strings.Count(before, "\n"), Say(", at column %d of %q", utf8.RuneCountInString(before[begin:])+1, cut(text, longestExcerpt))
}

// longestExcerpt is how many runes of a line are repeated.
const longestExcerpt = 80

// Shape implements Shaped.
func (Expr) Shape(func(any) *Shape) *Shape { return &Shape{What: "a jq program", Texts: true} }

// Def is a named jq program in a catalog file.
type Def struct {
	// Name, with parameters if it has any, as in events(list).
	Name    Text
	Program Expr
	// Shared by several files, of which not each has to call it.
	Shared bool
}

// Defs are named programs in the order of the file.
type Defs []Def

// UnmarshalYAML takes a mapping of names to programs.
func (d *Defs) UnmarshalYAML(n *yaml.Node) error {
	members, err := Members[Expr](n)
	for _, m := range members {
		*d = append(*d, Def{Name: m.Name, Program: m.Value})
	}
	return err
}

// Shape implements Shaped.
func (Defs) Shape(of func(any) *Shape) *Shape {
	return &Shape{Kind: Mapping, What: "jq programs by name", Example: "{first_title: '.list[0].title'}", Values: of(Expr{})}
}

// Member is a name in a mapping, with what stands there.
type Member[T any] struct {
	Name  Text
	Value T
}

// Members are those of a mapping, in the order of the file.
func Members[T any](n *yaml.Node) ([]Member[T], error) {
	members := make([]Member[T], len(n.Content)/2)
	for i := range members {
		m := &members[i]
		err := n.Content[2*i].Load(&m.Name)
		if err == nil {
			err = n.Content[2*i+1].Load(&m.Value)
		}
		if err != nil {
			return nil, err
		}
	}
	return members, nil
}

// Text is a string in a catalog file.
type Text struct {
	Value string
	Line  int
}

// UnmarshalYAML reads a scalar and notes its line.
func (t *Text) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return words.NewError("expected a string, number or boolean", "应为文本、数、true 或 false")
	}
	t.Value, t.Line = n.Value, n.Line
	return nil
}

// Shape implements Shaped.
func (Text) Shape(func(any) *Shape) *Shape { return &Shape{What: "a text", Texts: true} }

// Named is a list of mappings with a name. An item may be a name alone, as in
// [link, {name: token}]: what it stands for is declared elsewhere.
type Named[T any] []T

// UnmarshalYAML reads a name as a mapping that has nothing else.
func (l *Named[T]) UnmarshalYAML(n *yaml.Node) error {
	for _, item := range n.Content {
		if item.Kind == yaml.AliasNode {
			item = item.Alias
		}
		if item.Kind == yaml.ScalarNode {
			key := yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "name", Line: item.Line}
			item = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: item.Line, Content: []*yaml.Node{&key, item}}
		}
		var v T
		if err := item.Load(&v); err != nil {
			return err
		}
		*l = append(*l, v)
	}
	return nil
}

// Shape implements Shaped.
func (Named[T]) Shape(of func(any) *Shape) *Shape {
	var item T
	return &Shape{Kind: List, Items: &Shape{Kind: Union, Of: []*Shape{of(item), of(Text{})}}}
}

// Duration is a length of time, such as 90s, 6h or 30d.
type Duration time.Duration

// UnmarshalYAML reads a scalar that ParseDuration accepts.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := ParseDuration(n.Value)
	if err != nil {
		return err
	}
	*d = Duration(v)
	return nil
}

// durationPattern matches what ParseDuration reads, but for a plain 0.
const durationPattern = `(([0-9]+(\.[0-9]*)?|\.[0-9]+)d|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+)`

// Shape implements Shaped.
func (Duration) Shape(func(any) *Shape) *Shape {
	return &Shape{What: "a duration such as 90s, 6h or 30d", Pattern: "^(0|" + durationPattern + ")$"}
}

// ParseDuration reads what time.ParseDuration reads, and whole days, as in
// "30d". A negative duration is an error.
func ParseDuration(s string) (time.Duration, error) {
	text, unit := s, time.Duration(1)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		text, unit = days+"h", 24
	}
	v, err := time.ParseDuration(text)
	if err != nil || v < 0 || v > 1<<62/unit {
		return 0, words.Errorf("duration %q: expected a number with a unit, such as 90s, 6h or 30d", "%q不是时长；应为数和单位，例如 90s、6h 或 30d", s)
	}
	return v * unit, nil
}

// Problem is a mistake in a catalog file.
type Problem struct {
	Line int // 0: it belongs to no single line
	Msg  words.Text
}

// Problems collects mistakes, so that one check shows them all.
type Problems []Problem

// Add appends a mistake. line is that of the file, from 1; 0 means the file as a
// whole.
func (p *Problems) Add(line int, format string, args ...any) {
	*p = append(*p, Problem{line, Say(format, args...)})
}

// shift counts the lines on from before. A mistake in a file as a whole is then in the
// first line.
func (p Problems) shift(before int) {
	if before == 0 {
		return
	}
	for i := range p {
		p[i].Line = max(p[i].Line, 1) + before
	}
}

// Section is a part of a declaration that is decoded later, by the code that it
// belongs to. Its node is nil where the declaration does not have the section.
type Section struct{ *yaml.Node }

// Shape implements Shaped: who decodes it checks it.
func (Section) Shape(func(any) *Shape) *Shape { return &Shape{Kind: Anything} }

// UnmarshalYAML keeps the node as it is.
func (s *Section) UnmarshalYAML(n *yaml.Node) error {
	s.Node = n
	return nil
}
