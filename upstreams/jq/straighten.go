package jq

import (
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
)

// Bounds of a straight program.
const (
	mostNodes = 2000
	mostCalls = 16 // of functions within each other
)

// straighten compiles a program, and the defs that it calls, to a straight one; nil for
// one that does anything else than a straight one can.
func straighten(q *gojq.Query, called []*def) *straight {
	c := &straightener{}
	in := c.globals()
	for _, f := range called {
		in = in.withFunction(f.FuncDef)
	}
	root, ok := c.query(q, in)
	if !ok {
		return nil
	}
	return &straight{root: root, slots: c.slots, size: c.size, whole: !c.unseen}
}

// straightener compiles one program. A function is compiled for each call of it, so
// that each has variables of its own.
type straightener struct {
	slots, size, depth int
	// unseen: a part of the program may not have been compiled, as it cannot run.
	unseen bool
}

// binding is a name that a part of a program can refer to, with those around it.
type binding struct {
	outer *binding
	name  string // $name of a variable, or the signature of a function
	value single // of a variable
	body  *gojq.Query
	args  []string
	in    *binding // where the names of a filter that was passed to a function are bound; nil: here
}

func (b *binding) withFunction(f *gojq.FuncDef) *binding {
	return &binding{outer: b, name: signature(f.Name, len(f.Args)), body: f.Body, args: f.Args}
}

func (b *binding) find(name string) *binding {
	for b != nil && b.name != name {
		b = b.outer
	}
	return b
}

// globals are the variables of every program.
func (c *straightener) globals() *binding {
	read := []single{
		func(r *run, _ any) any { return orEmpty(r.env.Params) },
		func(r *run, _ any) any { return int(r.env.Now.Unix()) },
		func(r *run, _ any) any { return orEmpty(r.env.Vars) },
		func(r *run, _ any) any { return r.env.Status },
		func(r *run, _ any) any { return r.env.location() },
		func(r *run, _ any) any { return cookies(r.env.Header) },
		func(r *run, _ any) any { return headers(r.env.Header) },
		func(r *run, _ any) any { return orEmpty(r.env.Secrets) },
		func(r *run, _ any) any { return r.env.Cause },
		func(r *run, _ any) any { return r.env.language() },
	}
	var all *binding
	for i, name := range variables() {
		all = &binding{outer: all, name: name, value: read[i]}
	}
	return all
}

// withVariable binds a name to a new slot.
func (c *straightener) withVariable(name string, in *binding) (slot int, inner *binding) {
	slot = c.slots
	c.slots++
	return slot, &binding{outer: in, name: name, value: func(r *run, _ any) any { return r.vars[slot] }}
}

// query compiles a query.
func (c *straightener) query(q *gojq.Query, in *binding) (node, bool) {
	if c.size++; q == nil || c.size > mostNodes || len(q.Imports) > 0 {
		return node{}, false
	}
	for _, f := range q.FuncDefs {
		c.unseen = true // it may never be called
		in = in.withFunction(f)
	}
	switch {
	case q.Term != nil:
		return c.term(q.Term, in)
	case q.Op == gojq.OpPipe && len(q.Patterns) > 0:
		return c.bind(q, in)
	}
	return c.operation(q, in)
}

// operation compiles two queries with an operator between them.
func (c *straightener) operation(q *gojq.Query, in *binding) (node, bool) {
	left, ok1 := c.query(q.Left, in)
	right, ok2 := c.query(q.Right, in)
	switch {
	case !ok1 || !ok2:
		return node{}, false
	case q.Op == gojq.OpPipe:
		return left.then(right), true
	case q.Op == gojq.OpComma:
		return left.and(right), true
	case left.one == nil:
		return node{}, false
	case q.Op == gojq.OpAlt:
		return left.or(right), true
	case right.one == nil:
		return node{}, false
	}
	f := operation(q.Op, left.one, right.one)
	return node{one: f}, f != nil
}

// single compiles a query that emits exactly one value; nil for any other.
func (c *straightener) single(q *gojq.Query, in *binding) single {
	n, ok := c.query(q, in)
	if !ok {
		return nil
	}
	return n.one
}

// bind compiles `left as $name | right`.
func (c *straightener) bind(q *gojq.Query, in *binding) (node, bool) {
	if len(q.Patterns) != 1 || q.Patterns[0].Name == "" {
		return node{}, false
	}
	value, ok := c.query(q.Left, in)
	if !ok {
		return node{}, false
	}
	slot, inner := c.withVariable(q.Patterns[0].Name, in)
	body, ok := c.query(q.Right, inner)
	if !ok {
		return node{}, false
	}
	return value.bound(slot, body), true
}

// bound evaluates body for each value of n, which is in a slot.
func (n node) bound(slot int, body node) node {
	if n.one != nil && body.one != nil {
		return node{one: func(r *run, in any) any {
			r.vars[slot] = n.one(r, in)
			return body.one(r, in)
		}}
	}
	return node{many: func(r *run, in any, yield func(any) bool) bool {
		return n.each(r, in, func(v any) bool {
			r.vars[slot] = v
			return !r.unsure && body.each(r, in, yield)
		})
	}}
}

// term compiles a term with its suffixes.
func (c *straightener) term(t *gojq.Term, in *binding) (node, bool) {
	n, ok := c.plainTerm(t, in)
	for _, suffix := range t.SuffixList {
		if !ok {
			return node{}, false
		}
		switch {
		case suffix.Optional: // where it would matter, the run is unsure
		case suffix.Iter && n.one != nil:
			n = items(n.one)
		case suffix.Iter:
			n = n.then(items(identity))
		case n.one != nil:
			n, ok = c.index(suffix.Index, n.one, in)
		default:
			var next node
			next, ok = c.index(suffix.Index, identity, nil) // of each value, so nothing else can be read
			n = n.then(next)
		}
	}
	return n, ok
}

// index compiles an index of a value.
func (c *straightener) index(x *gojq.Index, of single, in *binding) (node, bool) {
	switch {
	case x.IsSlice:
		return node{}, false
	case x.Name != "":
		return node{one: field(of, x.Name)}, true
	case x.Str != nil && x.Str.Queries == nil:
		return node{one: field(of, x.Str.Str)}, true
	case x.Start == nil, in == nil && !isNumber(x.Start):
		return node{}, false
	}
	at := c.single(x.Start, in)
	return node{one: item(of, at)}, at != nil
}

// isNumber reports whether a query is a number and nothing else.
func isNumber(q *gojq.Query) bool {
	return q.Term != nil && q.Term.Type == gojq.TermTypeNumber && len(q.Term.SuffixList) == 0
}

// plainTerm compiles a term without its suffixes.
func (c *straightener) plainTerm(t *gojq.Term, in *binding) (node, bool) {
	switch t.Type {
	case gojq.TermTypeIdentity:
		return node{one: identity}, true
	case gojq.TermTypeNull:
		return constant(nil), true
	case gojq.TermTypeTrue:
		return constant(true), true
	case gojq.TermTypeFalse:
		return constant(false), true
	case gojq.TermTypeNumber:
		n, err := strconv.Atoi(t.Number)
		return constant(n), err == nil && strconv.Itoa(n) == t.Number
	case gojq.TermTypeUnary:
		n, err := strconv.Atoi(t.Unary.Term.Number)
		return constant(-n), err == nil && n > 0 && t.Unary.Op == gojq.OpSub && len(t.Unary.Term.SuffixList) == 0
	case gojq.TermTypeIndex:
		return c.index(t.Index, identity, in)
	case gojq.TermTypeFunc:
		return c.call(t.Func, in)
	case gojq.TermTypeString:
		f := c.str(t.Str, in)
		return node{one: f}, f != nil
	case gojq.TermTypeObject:
		f := c.object(t.Object, in)
		return node{one: f}, f != nil
	case gojq.TermTypeArray:
		return c.array(t.Array, in)
	case gojq.TermTypeIf:
		return c.condition(t.If.Cond, t.If.Then, t.If.Elif, t.If.Else, in)
	case gojq.TermTypeQuery:
		return c.query(t.Query, in)
	}
	return node{}, false
}

func (c *straightener) array(a *gojq.Array, in *binding) (node, bool) {
	if a.Query == nil {
		return node{one: func(*run, any) any { return []any{} }}, true
	}
	n, ok := c.query(a.Query, in)
	return n.array(), ok
}

func (c *straightener) condition(cond, then *gojq.Query, elif []*gojq.IfElif, otherwise *gojq.Query, in *binding) (node, bool) {
	test := c.single(cond, in)
	yes, ok1 := c.query(then, in)
	no, ok2 := node{one: identity}, true
	switch {
	case len(elif) > 0:
		no, ok2 = c.condition(elif[0].Cond, elif[0].Then, elif[1:], otherwise, in)
	case otherwise != nil:
		no, ok2 = c.query(otherwise, in)
	}
	if test == nil || !ok1 || !ok2 {
		return node{}, false
	}
	return choice(test, yes, no), true
}

// str compiles a string; nil for what cannot be.
func (c *straightener) str(s *gojq.String, in *binding) single {
	if s.Queries == nil {
		return constant(s.Str).one
	}
	parts := make([]single, len(s.Queries))
	for i, q := range s.Queries {
		if parts[i] = c.single(q, in); parts[i] == nil {
			return nil
		}
	}
	return text(parts)
}

// object compiles an object; nil for what cannot be.
func (c *straightener) object(o *gojq.Object, in *binding) single {
	members := make([]member, len(o.KeyVals))
	for i, kv := range o.KeyVals {
		m := c.member(kv, in)
		if m.name == nil || m.value == nil {
			return nil
		}
		members[i] = m
	}
	return object(members)
}

func (c *straightener) member(kv *gojq.ObjectKeyVal, in *binding) (m member) {
	name, variable := strings.CutPrefix(kv.Key, "$")
	switch {
	case variable:
		b := in.find(kv.Key)
		if b == nil || kv.Val != nil {
			return m
		}
		return member{constant(name).one, b.value}
	case name != "":
		m.name = constant(name).one
	case kv.KeyString != nil:
		m.name = c.str(kv.KeyString, in)
	case kv.KeyQuery != nil:
		m.name = c.single(kv.KeyQuery, in)
	}
	switch {
	case m.name == nil:
	case kv.Val != nil:
		m.value = c.single(kv.Val, in)
	case kv.KeyQuery == nil:
		m.value = item(identity, m.name)
	}
	return m
}

// call compiles a variable, or the call of a function.
func (c *straightener) call(f *gojq.Func, in *binding) (node, bool) {
	if c.depth++; c.depth > mostCalls {
		return node{}, false
	}
	defer func() { c.depth-- }()
	b := in.find(signature(f.Name, len(f.Args)))
	switch {
	case b == nil:
		return c.builtin(f, in)
	case b.value != nil:
		return node{one: b.value}, true
	case b.in != nil:
		return c.query(b.body, b.in)
	}
	return c.apply(b, f.Args, in)
}

// apply compiles the call of a function that the program defines.
func (c *straightener) apply(f *binding, args []*gojq.Query, in *binding) (node, bool) {
	scope := f // what it can refer to: itself, and what was defined before
	var bound []func(node) node
	for i, param := range f.args {
		name, isValue := strings.CutPrefix(param, "$")
		scope = &binding{outer: scope, name: name, body: args[i], in: in}
		if !isValue {
			c.unseen = true // it may never be read
			continue
		}
		value := c.single(args[i], in)
		if value == nil {
			return node{}, false
		}
		slot, inner := c.withVariable(param, scope)
		scope = inner
		bound = append(bound, func(body node) node { return node{one: value}.bound(slot, body) })
	}
	body, ok := c.query(f.body, scope)
	if !ok {
		return node{}, false
	}
	for _, bind := range bound {
		body = bind(body)
	}
	return body, true
}

// builtin compiles the call of a function that every program can call.
func (c *straightener) builtin(f *gojq.Func, in *binding) (node, bool) {
	args := make([]node, len(f.Args))
	for i, q := range f.Args {
		var ok bool
		if args[i], ok = c.query(q, in); !ok {
			return node{}, false
		}
	}
	switch signature(f.Name, len(args)) {
	case "empty":
		return node{many: func(*run, any, func(any) bool) bool { return true }}, true
	case "map/":
		return items(identity).then(args[0]).array(), true
	case "select/":
		none := node{many: func(*run, any, func(any) bool) bool { return true }}
		return choice(args[0].one, node{one: identity}, none), args[0].one != nil
	}
	values := make([]single, len(args))
	for i, a := range args {
		if values[i] = a.one; a.one == nil {
			return node{}, false
		}
	}
	call := functionOf(f.Name, len(args))
	if call == nil {
		return node{}, false
	}
	return node{one: func(r *run, in any) any { return call(r, in, values) }}, true
}

// functionOf is a function of single values; nil for one that is not known.
func functionOf(name string, args int) func(r *run, in any, args []single) any {
	switch signature(name, args) {
	case "not":
		return func(_ *run, in any, _ []single) any { return !truth(in) }
	case "tostring":
		return func(r *run, in any, _ []single) any { return r.text(in) }
	case "type":
		return func(_ *run, in any, _ []single) any { return gojq.TypeOf(in) }
	case "first":
		return func(r *run, in any, _ []single) any { return r.fromEnd(in, 0) }
	case "last":
		return func(r *run, in any, _ []single) any { return r.fromEnd(in, -1) }
	case "length":
		return func(r *run, in any, _ []single) any { return r.length(in) }
	case "join/":
		return func(r *run, in any, args []single) any { return r.join(in, args[0](r, in)) }
	case "startswith/":
		return ofTexts(func(s, arg string) any { return strings.HasPrefix(s, arg) })
	case "endswith/":
		return ofTexts(func(s, arg string) any { return strings.HasSuffix(s, arg) })
	case "ltrimstr/":
		return ofTexts(func(s, arg string) any { return strings.TrimPrefix(s, arg) })
	case "rtrimstr/":
		return ofTexts(func(s, arg string) any { return strings.TrimSuffix(s, arg) })
	}
	return nil
}

// ofTexts is a function of a text that takes another.
func ofTexts(f func(s, arg string) any) func(r *run, in any, args []single) any {
	return func(r *run, in any, args []single) any {
		s, ok1 := in.(string)
		arg, ok2 := args[0](r, in).(string)
		if !ok1 || !ok2 {
			return r.doubt()
		}
		return f(s, arg)
	}
}

func (r *run) fromEnd(in any, at int) any {
	list, ok := in.([]any)
	if !ok && in != nil {
		return r.doubt()
	}
	return itemAt(list, at)
}

func (r *run) length(in any) any {
	switch v := in.(type) {
	case nil:
		return 0
	case string:
		return len([]rune(v))
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return r.doubt()
}

// join joins texts and numbers, with a text between them.
func (r *run) join(in, between any) any {
	list, ok1 := in.([]any)
	separator, ok2 := between.(string)
	if !ok1 || !ok2 {
		return r.doubt()
	}
	texts := make([]string, len(list))
	for i, v := range list {
		switch v.(type) {
		case nil:
		case []any, map[string]any:
			return r.doubt()
		default:
			texts[i] = r.text(v)
		}
	}
	joined := strings.Join(texts, separator)
	r.left -= len(joined) >> 4
	return joined
}
