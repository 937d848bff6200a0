package jq

import (
	"reflect"
	"slices"

	"github.com/itchyny/gojq"

	"sundry/upstreams/declare"
)

// Reads are the names of the fields that programs read, and the defs that they call,
// in whatever value: those of .title, .["title"], {title}, has("title") and patterns.
// Names that are computed are not among them, nor those of $params and other
// variables that hold no reply. nil programs read nothing.
func (d *Defs) Reads(programs ...*declare.Expr) map[string]bool {
	names := map[string]bool{}
	for _, e := range programs {
		if e == nil {
			continue
		}
		q, _, err := parse(e)
		if err != nil {
			continue // it is reported where it is compiled
		}
		readsOf(reflect.ValueOf(q), names)
		for _, f := range d.calledBy(q) {
			readsOf(reflect.ValueOf(f.Body), names)
		}
	}
	return names
}

// readsOf collects the names in a syntax tree.
func readsOf(tree reflect.Value, names map[string]bool) {
	walk(tree, func(node reflect.Value) bool {
		if t, ok := reflect.TypeAssert[gojq.Term](node); ok && holdsNoReply(&t) {
			return false
		}
		noteReads(node, names)
		return true
	})
}

// holdsNoReply reports whether the term reads a variable with what is not of a reply.
func holdsNoReply(t *gojq.Term) bool {
	return t.Func != nil && slices.Contains([]string{"$params", "$secrets", "$cookies", "$headers"}, t.Func.Name)
}

// noteReads notes the names in one node.
func noteReads(v reflect.Value, names map[string]bool) {
	if i, ok := reflect.TypeAssert[gojq.Index](v); ok {
		note(names, i.Name, i.Str)
		noteTexts(i.Start, names)
	}
	if o, ok := reflect.TypeAssert[gojq.ObjectKeyVal](v); ok && o.Val == nil {
		note(names, o.Key, o.KeyString)
	}
	if o, ok := reflect.TypeAssert[gojq.PatternObject](v); ok {
		note(names, o.Key, o.KeyString)
	}
	if f, ok := reflect.TypeAssert[gojq.Func](v); ok && (f.Name == "has" || f.Name == "getpath" || f.Name == "pick") {
		for _, arg := range f.Args {
			noteTexts(arg, names)
		}
	}
}

// note notes a name, or else a text without interpolation. In a pattern, $name stands
// for the field name as well.
func note(names map[string]bool, name string, text *gojq.String) {
	if len(name) > 1 && name[0] == '$' {
		name = name[1:]
	}
	if name != "" {
		names[name] = true
	}
	if text != nil && len(text.Queries) == 0 && text.Str != "" {
		names[text.Str] = true
	}
}

// noteTexts notes all texts in a syntax tree.
func noteTexts(q *gojq.Query, names map[string]bool) {
	if q == nil {
		return
	}
	walk(reflect.ValueOf(q), func(node reflect.Value) bool {
		if text, ok := reflect.TypeAssert[gojq.String](node); ok {
			note(names, "", &text)
		}
		return true
	})
}
