package jq

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"sundry/upstreams/declare"
)

// facts are what the syntax tree of a program says, without the defs that it calls.
type facts struct {
	// calls are the signatures of its functions, and the names of its variables.
	calls map[string]bool
	// reads are the names of the fields that it reads.
	reads map[string]bool
	// members are what it reads of the maps that it is given.
	members map[Member]bool
}

// Member is what a program reads of a variable, as id of $params.id; of an empty Name, the
// variable as a whole.
type Member struct{ Variable, Name string }

// factsOf are those of a program itself, and the defs that it calls. There are none of nil, nor
// of one that does not parse, which is reported where it is compiled.
func (d *Defs) factsOf(e *declare.Expr) (own facts, called []*def) {
	if e == nil {
		return own, nil
	}
	p, err := d.parse(e.Text)
	if err != nil {
		return own, nil
	}
	return p.facts, d.calledBy(&p.facts)
}

// parsed is a program's syntax tree, and what it says.
type parsed struct {
	*gojq.Query
	facts   facts
	program *Program // nil until it is compiled, once: several sources and chains have the same
}

// parse parses a program, once: several ask what it reads before it is compiled.
func (d *Defs) parse(text string) (*parsed, error) {
	if d != nil && d.parsed[text] != nil {
		return d.parsed[text], nil
	}
	q, err := gojq.Parse(text)
	if err != nil {
		return nil, err
	}
	p := &parsed{Query: q, facts: factsIn(q)}
	if d != nil {
		d.parsed[text] = p
	}
	return p, nil
}

// factsIn are those of a syntax tree. A variable that it binds anew is not the one that it was
// given.
func factsIn(q *gojq.Query) facts {
	f := facts{map[string]bool{}, map[string]bool{}, map[Member]bool{}}
	bound := map[string]bool{}
	f.note(q, bound, true)
	maps.DeleteFunc(f.members, func(m Member, _ bool) bool { return bound[m.Variable] })
	return f
}

// note notes what is in and below a node. ofReply is false where nothing is read of a reply.
func (f *facts) note(below any, bound map[string]bool, ofReply bool) {
	walk(below, func(node any) bool {
		switch node := node.(type) {
		case *gojq.Term:
			if ofReply && holdsNoReply(node) {
				f.note(node, bound, false)
				return false
			}
			if node.Func != nil && isMap(node.Func.Name) {
				f.members[Member{node.Func.Name, firstIndex(node.SuffixList)}] = true
			}
		case *gojq.Func:
			f.calls[signature(node.Name, len(node.Args))] = true
		case *gojq.ObjectKeyVal:
			if strings.HasPrefix(node.Key, "$") { // {$headers}
				f.calls[node.Key] = true
			}
			if isMap(node.Key) {
				f.members[Member{node.Key, ""}] = true
			}
		case *gojq.Pattern:
			bound[node.Name] = true
		}
		if ofReply {
			f.noteReads(node)
		}
		return true
	})
}

// isMap reports whether a variable holds values by their names.
func isMap(variable string) bool {
	return variable == "$params" || variable == "$vars" || variable == "$secrets"
}

// holdsNoReply reports whether the term reads a variable with what is not of a reply.
func holdsNoReply(t *gojq.Term) bool {
	return t.Func != nil && slices.Contains([]string{"$params", "$secrets", "$cookies", "$headers"}, t.Func.Name)
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

// noteReads notes the names of fields in one node.
func (f *facts) noteReads(node any) {
	switch node := node.(type) {
	case *gojq.Index:
		f.read(node.Name, node.Str)
		f.readTexts(node.Start)
	case *gojq.ObjectKeyVal:
		if node.Val == nil {
			f.read(node.Key, node.KeyString)
		}
	case *gojq.PatternObject:
		f.read(node.Key, node.KeyString)
	case *gojq.Func:
		if node.Name == "has" || node.Name == "getpath" || node.Name == "pick" {
			for _, arg := range node.Args {
				f.readTexts(arg)
			}
		}
	}
}

// read notes a name, or else a text without interpolation. In a pattern, $name stands
// for the field name as well.
func (f *facts) read(name string, text *gojq.String) {
	if name = strings.TrimPrefix(name, "$"); name != "" {
		f.reads[name] = true
	}
	if text != nil && len(text.Queries) == 0 && text.Str != "" {
		f.reads[text.Str] = true
	}
}

// readTexts notes all texts in a syntax tree.
func (f *facts) readTexts(q *gojq.Query) {
	walk(q, func(node any) bool {
		if text, ok := node.(*gojq.String); ok {
			f.read("", text)
		}
		return true
	})
}

// Reads are the names of the fields that programs read, and the defs that they call,
// in whatever value: those of .title, .["title"], {title}, has("title") and patterns.
// Names that are computed are not among them, nor those of $params and other
// variables that hold no reply. nil programs read nothing.
func (d *Defs) Reads(programs ...*declare.Expr) map[string]bool {
	names := map[string]bool{}
	for _, e := range programs {
		own, called := d.factsOf(e)
		maps.Copy(names, own.reads)
		for _, f := range called {
			maps.Copy(names, f.facts.reads)
		}
	}
	return names
}

// Members are what a program reads of $params, $vars and $secrets itself, and what the
// defs do that it calls. nil reads nothing.
func (d *Defs) Members(e *declare.Expr) (own, called []Member) {
	f, defs := d.factsOf(e)
	for _, def := range defs {
		called = append(called, def.facts.sortedMembers()...)
	}
	return f.sortedMembers(), called
}

func (f *facts) sortedMembers() []Member {
	return slices.SortedFunc(maps.Keys(f.members), func(a, b Member) int { return strings.Compare(a.Variable+a.Name, b.Variable+b.Name) })
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
