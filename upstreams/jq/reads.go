package jq

import (
	"maps"
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
		q, err := gojq.Parse(e.Text)
		if err != nil {
			continue // it is reported where it is compiled
		}
		maps.Copy(names, readsOf(q))
		for _, f := range d.calledBy(q) {
			maps.Copy(names, f.reads)
		}
	}
	return names
}

// readsOf are the names in the program itself.
func readsOf(q *gojq.Query) map[string]bool {
	names := map[string]bool{}
	walk(q, func(node any) bool {
		if t, ok := node.(*gojq.Term); ok && holdsNoReply(t) {
			return false
		}
		noteReads(node, names)
		return true
	})
	return names
}

// holdsNoReply reports whether the term reads a variable with what is not of a reply.
func holdsNoReply(t *gojq.Term) bool {
	return t.Func != nil && slices.Contains([]string{"$params", "$secrets", "$cookies", "$headers"}, t.Func.Name)
}

// noteReads notes the names in one node.
func noteReads(node any, names map[string]bool) {
	switch node := node.(type) {
	case *gojq.Index:
		note(names, node.Name, node.Str)
		noteTexts(node.Start, names)
	case *gojq.ObjectKeyVal:
		if node.Val == nil {
			note(names, node.Key, node.KeyString)
		}
	case *gojq.PatternObject:
		note(names, node.Key, node.KeyString)
	case *gojq.Func:
		if node.Name == "has" || node.Name == "getpath" || node.Name == "pick" {
			for _, arg := range node.Args {
				noteTexts(arg, names)
			}
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
	walk(q, func(node any) bool {
		if text, ok := node.(*gojq.String); ok {
			note(names, "", text)
		}
		return true
	})
}
