package jq

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
)

// straight is a program that was compiled to plain Go functions, because all it does is
// to pick, rename, compare and join: it takes less than half of gojq's time
// (BenchmarkStraight). It knows no errors. Where a value is not as it expects it, it is unsure,
// and gojq runs the program from the beginning: what it emits until then is what gojq would emit.
type straight struct {
	root  node
	slots int // of variables
	size  int // how many nodes there are
	// whole: each part was compiled, so that gojq finds no mistake in the program.
	whole bool
}

// node is a part of a program: one of the two is set.
type node struct {
	one  single
	many stream
}

// single emits exactly one value. When the run is unsure, that is any value.
type single func(r *run, in any) any

// stream emits any number of values to yield, until that returns false. It returns
// false when it was stopped.
type stream func(r *run, in any, yield func(any) bool) bool

// run is one run of a straight program.
type run struct {
	env    *Env
	vars   []any // by slot
	few    [2]any
	size   int // of the program
	left   int // of maxWork
	unsure bool
}

// maxWork bounds one run, in evaluated nodes. It takes far less time than maxRunTime,
// which gojq has for what takes longer.
const maxWork = 4 << 20

func (s *straight) start(env *Env) *run {
	r := &run{env: env, size: s.size, left: maxWork}
	if r.vars = r.few[:]; s.slots > len(r.few) {
		r.vars = make([]any, s.slots)
	}
	return r
}

// one runs a program for one value; false if it is unsure, or may emit another number
// of them.
func (s *straight) one(input any, env *Env) (any, bool) {
	if s == nil || s.root.one == nil {
		return nil, false
	}
	r := s.start(env)
	v := s.root.one(r, input)
	return v, !r.unsure
}

// each runs a program, and returns how many values it emitted; false if it is unsure.
func (s *straight) each(input any, env *Env, yield func(any) bool) (emitted int, sure bool) {
	if s == nil {
		return 0, false
	}
	r := s.start(env)
	s.root.each(r, input, func(v any) bool {
		if r.unsure {
			return false
		}
		emitted++
		return yield(v)
	})
	return emitted, !r.unsure
}

// each emits the values of either kind of node.
func (n node) each(r *run, in any, yield func(any) bool) bool {
	if n.one != nil {
		return yield(n.one(r, in))
	}
	return n.many(r, in, yield)
}

// doubt makes the run unsure.
func (r *run) doubt() any {
	r.unsure = true
	return nil
}

// works counts the work of an iteration, and reports whether the run goes on.
func (r *run) works() bool {
	if r.left -= r.size; r.left < 0 {
		r.unsure = true
	}
	return !r.unsure
}

func constant(v any) node { return node{one: func(*run, any) any { return v }} }

func identity(_ *run, in any) any { return in }

// then emits what next makes of each value of n.
func (n node) then(next node) node {
	if n.one != nil && next.one != nil {
		return node{one: func(r *run, in any) any { return next.one(r, n.one(r, in)) }}
	}
	return node{many: func(r *run, in any, yield func(any) bool) bool {
		return n.each(r, in, func(v any) bool { return !r.unsure && next.each(r, v, yield) })
	}}
}

// and emits the values of n, then those of next.
func (n node) and(next node) node {
	return node{many: func(r *run, in any, yield func(any) bool) bool {
		return n.each(r, in, yield) && next.each(r, in, yield)
	}}
}

// array collects all values.
func (n node) array() node {
	if n.one != nil {
		return node{one: func(r *run, in any) any { return []any{n.one(r, in)} }}
	}
	return node{one: func(r *run, in any) any {
		out := []any{}
		if list, ok := in.([]any); ok {
			out = make([]any, 0, len(list))
		}
		n.many(r, in, func(v any) bool {
			out = append(out, v)
			return !r.unsure
		})
		return out
	}}
}

// items emits the items of an array.
func items(of single) node {
	return node{many: func(r *run, in any, yield func(any) bool) bool {
		list, ok := of(r, in).([]any)
		if !ok { // a mistake, or the fields of an object in their order
			r.doubt()
		}
		for _, v := range list {
			if !r.works() || !yield(v) {
				return false
			}
		}
		return !r.unsure
	}}
}

// field is a field of an object.
func field(of single, name string) single {
	return func(r *run, in any) any {
		switch v := of(r, in).(type) {
		case map[string]any:
			return v[name]
		case nil:
			return nil
		}
		return r.doubt()
	}
}

// item is an item of an array, or a field of an object, by a value.
func item(of, at single) single {
	return func(r *run, in any) any {
		v := of(r, in)
		switch at := at(r, in).(type) {
		case string:
			if object, ok := v.(map[string]any); ok {
				return object[at]
			}
		case int:
			if list, ok := v.([]any); ok {
				return itemAt(list, at)
			}
		default:
			return r.doubt()
		}
		if v != nil {
			r.doubt()
		}
		return nil
	}
}

// itemAt is an item, counted from the end if at is negative; nil if there is none.
func itemAt(list []any, at int) any {
	if at < 0 {
		at += len(list)
	}
	if at < 0 || at >= len(list) {
		return nil
	}
	return list[at]
}

func truth(v any) bool { return v != nil && v != false }

// choice is either of two nodes, by a condition.
func choice(cond single, yes, no node) node {
	if yes.one != nil && no.one != nil {
		return node{one: func(r *run, in any) any {
			if truth(cond(r, in)) {
				return yes.one(r, in)
			}
			return no.one(r, in)
		}}
	}
	return node{many: func(r *run, in any, yield func(any) bool) bool {
		if truth(cond(r, in)) {
			return yes.each(r, in, yield)
		}
		return no.each(r, in, yield)
	}}
}

// or emits the value of n if it is true, else those of otherwise.
func (n node) or(otherwise node) node {
	if otherwise.one != nil {
		return node{one: func(r *run, in any) any {
			if v := n.one(r, in); truth(v) {
				return v
			}
			return otherwise.one(r, in)
		}}
	}
	return node{many: func(r *run, in any, yield func(any) bool) bool {
		if v := n.one(r, in); truth(v) {
			return yield(v)
		}
		return !r.unsure && otherwise.many(r, in, yield)
	}}
}

// member is a field of an object that a program makes.
type member struct{ name, value single }

func object(members []member) single {
	return func(r *run, in any) any {
		out := make(map[string]any, len(members))
		for _, m := range members {
			name, ok := m.name(r, in).(string)
			if !ok {
				return r.doubt()
			}
			out[name] = m.value(r, in)
		}
		return out
	}
}

// text joins parts to a text.
func text(parts []single) single {
	return func(r *run, in any) any {
		var few [8]string
		texts := few[:0]
		for _, part := range parts {
			texts = append(texts, r.text(part(r, in)))
		}
		return strings.Join(texts, "")
	}
}

// text is what tostring makes of a value.
func (r *run) text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return string(v)
	case int:
		return strconv.Itoa(v)
	}
	b, err := gojq.Marshal(v)
	if r.left -= len(b) >> 4; err != nil {
		r.doubt()
	}
	return string(b)
}

// operation is a binary operator on single values; nil for one that is not among them.
func operation(op gojq.Operator, left, right single) single {
	both := func(f func(r *run, a, b any) any) single {
		return func(r *run, in any) any { return f(r, left(r, in), right(r, in)) }
	}
	switch op {
	case gojq.OpAnd:
		return func(r *run, in any) any { return truth(left(r, in)) && truth(right(r, in)) }
	case gojq.OpOr:
		return func(r *run, in any) any { return truth(left(r, in)) || truth(right(r, in)) }
	case gojq.OpEq:
		return both(func(r *run, a, b any) any { return r.compare(a, b) == 0 })
	case gojq.OpNe:
		return both(func(r *run, a, b any) any { return r.compare(a, b) != 0 })
	case gojq.OpLt:
		return both(func(r *run, a, b any) any { return r.compare(a, b) < 0 })
	case gojq.OpLe:
		return both(func(r *run, a, b any) any { return r.compare(a, b) <= 0 })
	case gojq.OpGt:
		return both(func(r *run, a, b any) any { return r.compare(a, b) > 0 })
	case gojq.OpGe:
		return both(func(r *run, a, b any) any { return r.compare(a, b) >= 0 })
	case gojq.OpAdd:
		return both((*run).add)
	}
	return nil
}

// compare compares texts and values that have no parts.
func (r *run) compare(a, b any) int {
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			return strings.Compare(a, b)
		}
	case []any, map[string]any:
		switch b.(type) {
		case []any, map[string]any:
			r.doubt() // it takes any time
			return 0
		}
	}
	return gojq.Compare(a, b)
}

// add adds texts, arrays and objects.
func (r *run) add(a, b any) any {
	switch {
	case a == nil:
		return r.notNumber(b)
	case b == nil:
		return r.notNumber(a)
	}
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			r.left -= (len(a) + len(b)) >> 4
			return a + b
		}
	case []any:
		if b, ok := b.([]any); ok {
			r.left -= len(a) + len(b)
			return addArrays(a, b)
		}
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			r.left -= len(a) + len(b)
			return addObjects(a, b)
		}
	}
	return r.doubt() // numbers, and mistakes
}

// notNumber returns what is no number of a reply, which gojq would convert.
func (r *run) notNumber(v any) any {
	if _, ok := v.(json.Number); ok {
		return r.doubt()
	}
	return v
}

func addArrays(a, b []any) []any {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	return slices.Concat(a, b)
}

func addObjects(a, b map[string]any) map[string]any {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	out := make(map[string]any, len(a)+len(b))
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}
