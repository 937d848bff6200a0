package jq

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"sundry/upstreams/declare"
)

// Member is what a program reads of a variable, as id of $params.id; of an empty Name, the
// variable as a whole.
type Member struct{ Variable, Name string }

// Members are what a program reads of $params, $vars and $secrets itself, and what the
// defs do that it calls. nil reads nothing.
func (d *Defs) Members(e *declare.Expr) (own, called []Member) {
	if e == nil {
		return nil, nil
	}
	q, err := gojq.Parse(e.Text)
	if err != nil {
		return nil, nil // it is reported where it is compiled
	}
	for _, f := range d.calledBy(q) {
		called = append(called, f.members...)
	}
	return membersOf(q), called
}

// membersOf are those that the program itself reads. A variable that it binds anew is not
// the one that it was given.
func membersOf(q *gojq.Query) []Member {
	read, bound := map[Member]bool{}, map[string]bool{}
	walk(q, func(node any) bool {
		switch node := node.(type) {
		case *gojq.Term:
			if node.Func != nil && isMap(node.Func.Name) {
				read[Member{node.Func.Name, firstIndex(node.SuffixList)}] = true
			}
		case *gojq.ObjectKeyVal:
			if isMap(node.Key) {
				read[Member{node.Key, ""}] = true
			}
		case *gojq.Pattern:
			bound[node.Name] = true
		}
		return true
	})
	maps.DeleteFunc(read, func(m Member, _ bool) bool { return bound[m.Variable] })
	return slices.SortedFunc(maps.Keys(read), func(a, b Member) int { return strings.Compare(a.Variable+a.Name, b.Variable+b.Name) })
}

// isMap reports whether a variable holds values by their names.
func isMap(variable string) bool {
	return variable == "$params" || variable == "$vars" || variable == "$secrets"
}

// firstIndex is the name of the field that is read first; "" for one that is computed, or
// for none.
func firstIndex(suffixes []*gojq.Suffix) string {
	if len(suffixes) == 0 || suffixes[0].Index == nil {
		return ""
	}
	at := suffixes[0].Index
	switch {
	case at.Str != nil && len(at.Str.Queries) == 0:
		return at.Str.Str
	case at.Start != nil && !at.IsSlice:
		text, _ := literalText(at.Start)
		return text
	}
	return at.Name
}

// In is the line of a program on which a member is read; its first line where that cannot
// be told.
func (m Member) In(e *declare.Expr) int {
	at := regexp.MustCompile(regexp.QuoteMeta(m.Variable) + `\s*\.\s*\[?\s*"?` + regexp.QuoteMeta(m.Name)).FindStringIndex(e.Text)
	if at == nil {
		return e.Line
	}
	return e.Line + strings.Count(e.Text[:at[0]], "\n")
}
