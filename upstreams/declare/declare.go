// Package declare holds the values of catalog files that remember where they
// stand: texts, jq programs and spans of time. A mistake in one is reported with
// the line of the file that it is in, and one check reports all mistakes.
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
	Source string
	Line   int // of its first character, in the file
}

// UnmarshalYAML takes a scalar and remembers where it stands.
func (e *Expr) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("expected a jq program, as in map: .data")
	}
	e.Source, e.Line = n.Value, n.Line
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		e.Line++
	}
	return nil
}

// Text is a string in a catalog file.
type Text struct {
	Value string
	Line  int
}

// UnmarshalYAML takes a scalar and remembers where it stands.
func (t *Text) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("expected a text")
	}
	t.Value, t.Line = n.Value, n.Line
	return nil
}

// Duration is a span of time as in 90s, 6h or 30d.
type Duration time.Duration

// UnmarshalYAML takes what time.ParseDuration takes, and whole days.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := ParseDuration(n.Value)
	if err != nil {
		return err
	}
	*d = Duration(v)
	return nil
}

// ParseDuration reads "90s", "6h", "30d". Negative spans are refused.
func ParseDuration(s string) (time.Duration, error) {
	text, unit := s, time.Duration(1)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		text, unit = days+"h", 24
	}
	v, err := time.ParseDuration(text)
	if err != nil || v < 0 || v > 1<<62/unit {
		return 0, fmt.Errorf("duration %q: expected a span such as 90s, 6h or 30d", s)
	}
	return v * unit, nil
}

// Problem is a mistake in a catalog file.
type Problem struct {
	Line int
	Msg  string
}

// Problems collects mistakes, so that one check shows them all.
type Problems []Problem

// Add notes one.
func (p *Problems) Add(line int, format string, args ...any) {
	*p = append(*p, Problem{line, fmt.Sprintf(format, args...)})
}

// Section is a part of a declaration that somebody else decodes.
type Section struct{ *yaml.Node }

// UnmarshalYAML keeps the node.
func (s *Section) UnmarshalYAML(n *yaml.Node) error {
	s.Node = n
	return nil
}

// Decode reads a node, which may hold no other fields than those of into.
func Decode(n *yaml.Node, into any, problems *Problems) {
	if err := n.Load(into, yaml.WithKnownFields()); err != nil {
		problems.AddYAML(err)
	}
}

// AddYAML notes the YAML library's errors, with their lines.
func (p *Problems) AddYAML(err error) {
	if many, ok := errors.AsType[*yaml.LoadErrors](err); ok {
		for _, one := range many.Errors {
			p.Add(one.Mark.Line, "%s", one.Message)
		}
		return
	}
	if one, ok := errors.AsType[*yaml.LoadError](err); ok {
		p.Add(one.Mark.Line, "%s", one.Message)
		return
	}
	p.Add(0, "%v", err)
}
