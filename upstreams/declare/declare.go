// Package declare holds the values of catalog files that know their line:
// texts, jq programs and durations. A mistake is reported with the line of the
// file it is in, and one check reports all mistakes.
package declare

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// Expr is a jq program in a catalog file.
type Expr struct {
	Text string
	Line int // of its first character, in the file
}

// UnmarshalYAML reads a scalar and notes its line.
func (e *Expr) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return errors.New("expected a jq program in a string, for example map: .data")
	}
	e.Text, e.Line = n.Value, n.Line
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		e.Line++
	}
	return nil
}

// Shape implements Shaped.
func (Expr) Shape(func(any) *Shape) *Shape { return &Shape{What: "a jq program", Texts: true} }

// Def is a named jq program in a catalog file.
type Def struct {
	// Name, with parameters if it has any, as in events(list).
	Name    Text
	Program Expr
}

// Defs are named programs in the order of the file.
type Defs []Def

// UnmarshalYAML takes a mapping of names to programs.
func (d *Defs) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("expected jq programs by name, for example {first_title: '.list[0].title'}")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		var def Def
		if err := n.Content[i].Load(&def.Name); err != nil {
			return err
		}
		if err := n.Content[i+1].Load(&def.Program); err != nil {
			return err
		}
		*d = append(*d, def)
	}
	return nil
}

// Shape implements Shaped.
func (Defs) Shape(of func(any) *Shape) *Shape {
	return &Shape{Kind: Mapping, What: "jq programs by name", Example: "{first_title: '.list[0].title'}", Values: of(Expr{})}
}

// Text is a string in a catalog file.
type Text struct {
	Value string
	Line  int
}

// UnmarshalYAML reads a scalar and notes its line.
func (t *Text) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return errors.New("expected a string, number or boolean")
	}
	t.Value, t.Line = n.Value, n.Line
	return nil
}

// Shape implements Shaped.
func (Text) Shape(func(any) *Shape) *Shape { return &Shape{What: "a text", Texts: true} }

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
		return 0, fmt.Errorf("duration %q: expected a number with a unit, such as 90s, 6h or 30d", s)
	}
	return v * unit, nil
}

// Problem is a mistake in a catalog file.
type Problem struct {
	Line int // 0: it belongs to no single line
	Msg  string
}

// Problems collects mistakes, so that one check shows them all.
type Problems []Problem

// Add appends a mistake. line is that of the file, from 1; 0 means the file as a
// whole.
func (p *Problems) Add(line int, format string, args ...any) {
	*p = append(*p, Problem{line, fmt.Sprintf(format, args...)})
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
