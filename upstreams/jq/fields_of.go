package jq

import (
	"maps"
	"strings"

	"github.com/itchyny/gojq"

	"sundry/upstreams/declare"
)

// FieldsOf derives the fields of what a program emits from its text and that of the
// defs that it calls. input has the fields of its input, vars those of $vars. It is an
// estimate: a field with a computed name, for example, is missing. It is nil for a
// program that does not parse.
func FieldsOf(e *declare.Expr, defs *Defs, input, vars *Fields) *Fields {
	q, err := gojq.Parse(e.Text)
	if err != nil {
		return nil
	}
	s := scope{vars: map[string]*Fields{"$vars": vars}}
	for _, f := range defs.calledBy(q) {
		s = s.withFunc(f.FuncDef, s)
	}
	return s.query(q, input)
}

// scope has the variables and functions that are visible at a place of a program.
type scope struct {
	vars  map[string]*Fields
	funcs map[string]*function // by name and number of parameters
	depth int                  // of calls
}

// maxCalls bounds how deep functions call each other, or themselves.
const maxCalls = 8

// function is one that a program defines, or a filter that was passed to one.
type function struct {
	def   *gojq.FuncDef
	scope scope // in which it was defined
}

func (s scope) withVar(name string, value *Fields) scope {
	s.vars = maps.Clone(s.vars)
	s.vars[name] = value
	return s
}

func (s scope) withFunc(def *gojq.FuncDef, in scope) scope {
	s.funcs = maps.Clone(s.funcs)
	if s.funcs == nil {
		s.funcs = map[string]*function{}
	}
	s.funcs[signature(def.Name, len(def.Args))] = &function{def, in}
	return s
}

func signature(name string, params int) string { return name + strings.Repeat("/", params) }

// query is what a query emits for an input.
func (s scope) query(q *gojq.Query, in *Fields) *Fields {
	if q == nil {
		return nil
	}
	for _, def := range q.FuncDefs {
		s = s.withFunc(def, s)
	}
	switch {
	case q.Term != nil:
		return s.term(q.Term, in)
	case q.Right == nil:
		return in // definitions alone
	case q.Op == gojq.OpPipe && len(q.Patterns) > 0:
		return s.bind(q.Patterns, s.query(q.Left, in)).query(q.Right, in)
	case q.Op == gojq.OpPipe:
		return s.query(q.Right, s.query(q.Left, in))
	}
	return s.operation(q, in)
}

func (s scope) operation(q *gojq.Query, in *Fields) *Fields {
	switch q.Op {
	case gojq.OpComma, gojq.OpAdd, gojq.OpMul, gojq.OpAlt:
		return s.query(q.Left, in).Join(s.query(q.Right, in))
	case gojq.OpSub:
		return s.query(q.Left, in)
	case gojq.OpModify:
		return assign(q.Left, in, s.query(q.Right, s.query(q.Left, in)))
	case gojq.OpAssign, gojq.OpUpdateAdd, gojq.OpUpdateAlt:
		return assign(q.Left, in, s.query(q.Left, in).Join(s.query(q.Right, in)))
	}
	return nil // numbers, texts and conditions
}

// assign returns in with a value at a path. A path of several fields changes nothing.
func assign(path *gojq.Query, in, value *Fields) *Fields {
	if t := path.Term; t != nil && t.Type == gojq.TermTypeIndex && len(t.SuffixList) == 0 {
		if name := key(t.Index); name != "" {
			return in.With(name, value)
		}
	}
	return in
}

// bind declares the variables of patterns with their values.
func (s scope) bind(patterns []*gojq.Pattern, value *Fields) scope {
	for _, p := range patterns {
		if p.Name != "" {
			s = s.withVar(p.Name, value)
		}
		s = s.bind(p.Array, value.Items())
		for _, field := range p.Object {
			name, variable := strings.CutPrefix(field.Key, "$")
			v, _ := value.Field(name)
			if variable {
				s = s.withVar(field.Key, v)
			}
			if field.Val != nil {
				s = s.bind([]*gojq.Pattern{field.Val}, v)
			}
		}
	}
	return s
}

func (s scope) term(t *gojq.Term, in *Fields) *Fields {
	out := s.plainTerm(t, in)
	for _, suffix := range t.SuffixList {
		switch {
		case suffix.Iter:
			out = out.Items()
		case suffix.Index != nil:
			out = index(suffix.Index, out)
		}
	}
	return out
}

// plainTerm is a term without its suffixes.
func (s scope) plainTerm(t *gojq.Term, in *Fields) *Fields {
	switch t.Type {
	case gojq.TermTypeIdentity:
		return in
	case gojq.TermTypeIndex:
		return index(t.Index, in)
	case gojq.TermTypeFunc:
		return s.call(t.Func, in)
	case gojq.TermTypeObject:
		return s.object(t.Object, in)
	case gojq.TermTypeArray:
		return &Fields{items: s.query(t.Array.Query, in)}
	case gojq.TermTypeIf:
		return s.condition(t.If, in)
	case gojq.TermTypeTry:
		return s.query(t.Try.Body, in)
	case gojq.TermTypeReduce:
		start := s.query(t.Reduce.Start, in)
		return start.Join(s.bind(t.Reduce.Patterns, s.query(t.Reduce.Query, in)).query(t.Reduce.Update, start))
	case gojq.TermTypeForeach:
		s = s.bind(t.Foreach.Patterns, s.query(t.Foreach.Query, in))
		state := s.query(t.Foreach.Update, s.query(t.Foreach.Start, in))
		if t.Foreach.Extract == nil {
			return state
		}
		return s.query(t.Foreach.Extract, state)
	case gojq.TermTypeLabel:
		return s.query(t.Label.Body, in)
	case gojq.TermTypeQuery:
		return s.query(t.Query, in)
	}
	return nil // numbers and texts
}

func (s scope) condition(c *gojq.If, in *Fields) *Fields {
	out := s.query(c.Then, in)
	for _, elif := range c.Elif {
		out = out.Join(s.query(elif.Then, in))
	}
	if c.Else == nil {
		return out.Join(in)
	}
	return out.Join(s.query(c.Else, in))
}

func (s scope) object(o *gojq.Object, in *Fields) *Fields {
	out := &Fields{of: map[string]*Fields{}}
	for _, field := range o.KeyVals {
		name, variable := strings.CutPrefix(field.Key, "$")
		if field.KeyString != nil && field.KeyString.Queries == nil {
			name = field.KeyString.Str
		}
		if name == "" {
			continue // computed
		}
		var value *Fields
		switch {
		case field.Val != nil:
			value = s.query(field.Val, in)
		case variable:
			value = s.vars[field.Key]
		default:
			value, _ = in.Field(name)
		}
		out = out.With(name, value)
	}
	return out
}

// index is what stands at an index of a value.
func index(i *gojq.Index, in *Fields) *Fields {
	if name := key(i); name != "" {
		value, _ := in.Field(name)
		return value
	}
	if i.IsSlice {
		return in
	}
	return in.Items()
}

// key is the name of a field; "" for another index.
func key(i *gojq.Index) string {
	switch {
	case i.Name != "":
		return i.Name
	case i.Str != nil && i.Str.Queries == nil:
		return i.Str.Str
	case i.Start != nil && i.Start.Term != nil && i.Start.Term.Str != nil && i.Start.Term.Str.Queries == nil:
		return i.Start.Term.Str.Str
	}
	return ""
}

// call is a variable, a function of the program, or a builtin one.
func (s scope) call(f *gojq.Func, in *Fields) *Fields {
	if strings.HasPrefix(f.Name, "$") {
		return s.vars[f.Name]
	}
	defined, ok := s.funcs[signature(f.Name, len(f.Args))]
	if !ok {
		return s.builtin(f, in)
	}
	if s.depth >= maxCalls {
		return nil
	}
	inner := defined.scope.withFunc(defined.def, defined.scope)
	inner.depth = s.depth + 1
	for i, param := range defined.def.Args {
		if strings.HasPrefix(param, "$") {
			inner = inner.withVar(param, s.query(f.Args[i], in))
		}
		inner = inner.withFunc(&gojq.FuncDef{Name: strings.TrimPrefix(param, "$"), Body: f.Args[i]}, s)
	}
	return inner.query(defined.def.Body, in)
}

// builtin knows the functions that emit another value than their input. All others
// are assumed to emit their input: filters, sorting, and the named functions that
// clean a value.
func (s scope) builtin(f *gojq.Func, in *Fields) *Fields {
	switch signature(f.Name, len(f.Args)) {
	case "map/":
		return &Fields{items: s.query(f.Args[0], in.Items())}
	case "first", "last", "add", "min", "max", "min_by/", "max_by/", "nth/":
		return in.Items()
	case "first/", "last/", "add/":
		return s.query(f.Args[0], in)
	case "limit//", "nth//", "until//", "while//":
		return s.query(f.Args[1], in)
	case "group_by/":
		return &Fields{items: in}
	case "empty", "error", "error/", "tojson", "fromjson", "tostring", "keys", "to_entries", "from_entries", "length", "type", "capture/", "capture//":
		return nil
	}
	return in
}
