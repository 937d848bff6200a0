// Package jq compiles and runs the programs of catalog files, and the templates
// that stand beside them. A program is compiled once, at load, runs for two
// seconds at most, and reaches nothing but what it is given.
package jq

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/itchyny/gojq"

	"sundry/upstreams/declare"
)

// queryTime bounds one run of a jq program.
const queryTime = 2 * time.Second

// Program is a compiled jq program. It is safe for concurrent use.
type Program struct{ code *gojq.Code }

// Env are the variables every program may use: $params, $now (unix seconds),
// $vars, $status, $location (of a redirect that is not followed, or ""),
// $cookies (set by the reply, by name), $headers (of the reply, by names in
// small letters) and, before the answer came, $secrets.
type Env struct {
	Params map[string]any
	Now    time.Time
	Vars   map[string]any
	Status int
	// Location header of the reply.
	Location string
	Cookies  map[string]any
	Headers  map[string]any
	Secrets  map[string]any
}

func (e *Env) values() []any {
	return []any{orEmpty(e.Params), int(e.Now.Unix()), orEmpty(e.Vars), e.Status, e.Location, orEmpty(e.Cookies), orEmpty(e.Headers), orEmpty(e.Secrets)}
}

func orEmpty(m map[string]any) any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// Compile compiles a program, which may call defs; mistakes go to problems, and
// nil comes back. A nil program, one that is not declared, stays nil.
func Compile(e *declare.Expr, defs *Defs, problems *declare.Problems) *Program {
	if e == nil {
		return nil
	}
	q, line, err := parse(e)
	if err != nil {
		defs.mention(e.Source)
		problems.Add(line, "jq: %v", err)
		return nil
	}
	called := defs.calledBy(q)
	for _, f := range called {
		f.called = true
	}
	code, err := compile(q, called)
	if err != nil {
		problems.Add(e.Line, "jq: %v", err)
		return nil
	}
	return &Program{code}
}

// parse reads a program. The line is that of its mistake, if it has one.
func parse(e *declare.Expr) (q *gojq.Query, line int, err error) {
	q, err = gojq.Parse(e.Source)
	if at, ok := errors.AsType[*gojq.ParseError](err); ok {
		return nil, e.Line + strings.Count(e.Source[:min(max(at.Offset-1, 0), len(e.Source))], "\n"), err
	}
	return q, e.Line, err
}

// compile compiles a syntax tree behind those of defs.
func compile(q *gojq.Query, defs []*def) (*gojq.Code, error) {
	whole := *q
	whole.FuncDefs = nil
	for _, f := range defs {
		whole.FuncDefs = append(whole.FuncDefs, f.FuncDef)
	}
	whole.FuncDefs = append(whole.FuncDefs, q.FuncDefs...)
	return gojq.Compile(&whole,
		append(functions(), gojq.WithVariables([]string{"$params", "$now", "$vars", "$status", "$location", "$cookies", "$headers", "$secrets"}))...)
}

// Each runs the program and gives every value it emits to yield, until yield
// returns false.
func (q *Program) Each(ctx context.Context, input any, env *Env, yield func(any) bool) error {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	iter := q.code.RunWithContext(ctx, input, env.values()...)
	for {
		v, more := iter.Next()
		if !more {
			return nil
		}
		if err, failed := v.(error); failed {
			var halt *gojq.HaltError
			if errors.As(err, &halt) && halt.Value() == nil {
				return nil
			}
			return fmt.Errorf("jq: %w", err)
		}
		if !yield(v) {
			return nil
		}
	}
}

// One runs a program that must emit exactly one value.
func (q *Program) One(ctx context.Context, input any, env *Env) (any, error) {
	var out []any
	err := q.Each(ctx, input, env, func(v any) bool {
		out = append(out, v)
		return len(out) < 2
	})
	switch {
	case err != nil:
		return nil, err
	case len(out) != 1:
		return nil, fmt.Errorf("jq: want one value, got %s", [...]string{"none", "", "several"}[len(out)])
	}
	return out[0], nil
}

// True runs a condition: false and null are no, anything else is yes. A
// program that fails says no: a condition on a shape that is not there does
// not hold. One that ran out of time said nothing: that is an error.
func (q *Program) True(ctx context.Context, input any, env *Env) (bool, error) {
	v, err := q.One(ctx, input, env)
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return false, fmt.Errorf("a condition ran for longer than %v", queryTime)
	}
	return err == nil && v != nil && v != false, nil
}

// Text runs a program that must emit one string.
func (q *Program) Text(ctx context.Context, input any, env *Env) (string, error) {
	v, err := q.One(ctx, input, env)
	if err != nil {
		return "", err
	}
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("jq: want a text, got %s", gojq.TypeOf(v))
	}
	return s, nil
}
