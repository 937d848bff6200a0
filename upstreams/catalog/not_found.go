package catalog

import (
	"context"
	"errors"

	"go.yaml.in/yaml/v4"

	"sundry/metrics/words"
	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
)

// notFoundSpec declares the message of a negative answer.
type notFoundSpec struct{ notFoundPrograms }

// notFoundPrograms are the programs of a message, one for each language.
type notFoundPrograms struct {
	// EN is the program of the English message; without it, the Chinese one is for both.
	EN *declare.Expr `yaml:"en" any:"language" example:"'\"there is no joke \\($params.id)\"'"`
	// ZH is the program of the Chinese message; without it, the English one is for both.
	ZH *declare.Expr `yaml:"zh" any:"language" example:"'\"没有编号为 \\($params.id) 的笑话\"'"`
}

// UnmarshalYAML takes a program, or a mapping with one for each language.
func (s *notFoundSpec) UnmarshalYAML(n *yaml.Node) error {
	switch n.Kind {
	case yaml.ScalarNode:
		s.EN = &declare.Expr{}
		return n.Load(s.EN)
	case yaml.MappingNode:
		if err := n.Load(&s.notFoundPrograms); err != nil {
			return err
		}
	}
	if s.EN == nil {
		s.EN, s.ZH = s.ZH, nil
	}
	if s.EN == nil {
		return errors.New(`expected a jq program for each language, as in {en: '"no such joke"', zh: '"没有这个笑话"'}, or one for both`)
	}
	return nil
}

// Shape implements declare.Shaped.
func (notFoundSpec) Shape(of func(any) *declare.Shape) *declare.Shape {
	return &declare.Shape{Kind: declare.Union, Of: []*declare.Shape{of(declare.Expr{}), of(notFoundPrograms{})}}
}

// notFound makes the message of a negative answer. Programs that are nil say only that there is
// no answer.
type notFound struct{ en, zh *jq.Program }

func (s *notFoundSpec) compile(defs *jq.Defs, problems *declare.Problems) notFound {
	if s == nil {
		return notFound{}
	}
	made := notFound{jq.Compile(s.EN, defs, problems), jq.Compile(s.ZH, defs, problems)}
	if s.ZH == nil {
		made.zh = made.en
	}
	return made
}

// NotFound is the message of a negative answer.
func (e *Endpoint) NotFound(ctx context.Context, call *upstreams.Call) words.Text {
	env := &jq.Env{Params: call.Params, Now: call.Now}
	en, ok := said(ctx, e.notFound.en, env)
	zh, okZH := said(ctx, e.notFound.zh, env)
	if !ok || !okZH {
		return words.Say("not found", "没有找到")
	}
	return words.Say(en, zh)
}

// said is the text of a program; ok is false for one that has none.
func said(ctx context.Context, p *jq.Program, env *jq.Env) (text string, ok bool) {
	if p == nil {
		return "", false
	}
	text, err := p.Text(ctx, nil, env)
	return text, err == nil
}
