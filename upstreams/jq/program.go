// Package jq compiles and runs the jq programs of catalog files, and the templates
// beside them. A program is compiled once, at load; it runs for at most two seconds,
// and can read nothing but its input and its variables.
//
// What most programs do needs no gojq (straight.go). Without that, a miss takes 2.88 instead
// of 2.18 times the CPU of httputil.ReverseProxy (BenchmarkMiss in proxy).
package jq

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/itchyny/gojq"

	"sundry/upstreams/declare"
)

// maxRunTime bounds one run of a program.
const maxRunTime = 2 * time.Second

// Program is a compiled jq program. It is safe for concurrent use.
type Program struct {
	code     func() (*gojq.Code, error)
	needs    needs
	straight *straight // nil: only gojq can run it
}

// Compile compiles a program, which may call defs (nil: none). It returns nil for a
// program with a mistake, which goes to problems, and for nil, a program that is not
// declared.
func Compile(e *declare.Expr, defs *Defs, problems *declare.Problems) *Program {
	if e == nil {
		return nil
	}
	q, err := defs.parse(e.Text)
	if err != nil {
		defs.mention(e.Text)
		defs.report(e, "", err, problems)
		return nil
	}
	checkRegexps(q.Query, e, "", problems)
	if q.program == nil {
		q.program, err = compileOf(q, defs.calledBy(&q.facts))
	}
	if err != nil {
		defs.report(e, "", err, problems)
	}
	return q.program
}

// compileOf compiles what was parsed, and notes that it calls these defs.
func compileOf(q *parsed, called []*def) (*Program, error) {
	for _, f := range called {
		f.called = true
	}
	p := &Program{
		code:  sync.OnceValues(func() (*gojq.Code, error) { return compile(q.Query, &q.facts, called) }),
		needs: needsOf(&q.facts, called), straight: straighten(q.Query, called),
	}
	if p.straight != nil && p.straight.whole { // gojq, for odd values alone, would be a fifth of the time to load a catalog
		return p, nil
	}
	if _, err := p.code(); err != nil {
		return nil, err
	}
	return p, nil
}

// ReadsLanguage reports whether it depends on the language, $lang. Nil does not.
func (q *Program) ReadsLanguage() bool { return q != nil && q.needs.language }

// compile compiles a syntax tree with these facts, with defs before it.
func compile(q *gojq.Query, own *facts, defs []*def) (*gojq.Code, error) {
	whole := *q
	whole.FuncDefs = nil
	for _, f := range defs {
		whole.FuncDefs = append(whole.FuncDefs, f.FuncDef)
	}
	whole.FuncDefs = append(whole.FuncDefs, q.FuncDefs...)
	return gojq.Compile(&whole,
		append(functionsOf(own, defs), gojq.WithVariables(variables()))...)
}

// Each runs the program and passes every value that it emits to yield, until yield
// returns false. An error of the program, or a run that takes longer than two
// seconds, ends it with an error.
func (q *Program) Each(ctx context.Context, input any, env *Env, yield func(any) bool) error {
	if ctx.Err() != nil {
		return fmt.Errorf("jq: %w", ctx.Err())
	}
	emitted, sure := q.straight.each(input, env, yield)
	if sure {
		return nil
	}
	return q.eachByGojq(ctx, input, env, func(v any) bool {
		if emitted > 0 { // by the straight program, before it was unsure
			emitted--
			return true
		}
		return yield(v)
	})
}

// eachByGojq is Each without the straight program.
func (q *Program) eachByGojq(ctx context.Context, input any, env *Env, yield func(any) bool) error {
	code, err := q.code()
	if err != nil {
		return fmt.Errorf("jq: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, maxRunTime)
	defer cancel()
	iter := code.RunWithContext(ctx, input, env.values(q.needs)...)
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
			return failureOf(ctx, err)
		}
		if !yield(v) {
			return nil
		}
	}
}

// failureOf is the error of a run. It keeps the text alone of a program's own: gojq's
// errors hold values, each of which would keep the whole document, for as long as the
// error is remembered.
func failureOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("jq: %w", err)
	}
	return errors.New("jq: " + err.Error())
}

// One runs the program, and returns an error unless it emits exactly one value.
func (q *Program) One(ctx context.Context, input any, env *Env) (any, error) {
	if ctx.Err() == nil {
		if v, sure := q.straight.one(input, env); sure {
			return v, nil
		}
	}
	var out []any
	err := q.Each(ctx, input, env, func(v any) bool {
		out = append(out, v)
		return len(out) < 2
	})
	switch {
	case err != nil:
		return nil, err
	case len(out) != 1:
		return nil, fmt.Errorf("jq: expected one value, got %s", [...]string{"none", "", "several"}[len(out)])
	}
	return out[0], nil
}

// True runs a condition. It is false if the program emits false or null, not exactly
// one value, or fails: a condition on a field that the reply does not have does not
// hold. A program that runs out of time is an error.
func (q *Program) True(ctx context.Context, input any, env *Env) (bool, error) {
	v, err := q.One(ctx, input, env)
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return false, fmt.Errorf("jq: a condition ran for longer than %v", maxRunTime)
	}
	return err == nil && v != nil && v != false, nil
}

// Text runs the program, and returns an error unless it emits exactly one string.
func (q *Program) Text(ctx context.Context, input any, env *Env) (string, error) {
	v, err := q.One(ctx, input, env)
	if err != nil {
		return "", err
	}
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("jq: expected a string, got %s", gojq.TypeOf(v))
	}
	return s, nil
}
