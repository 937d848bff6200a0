package jq

import (
	"maps"
	"regexp"
	"slices"

	"sundry/metrics/words"
	"sundry/upstreams/declare"
)

// Scope has the names that the templates and programs of a source may refer to. It grows as the source is compiled, from
// top to bottom. It is not safe for concurrent use.
type Scope struct {
	// Defs are the functions that programs may call; nil: none.
	Defs *Defs
	// Uses notes what is read of all sources of the endpoint; nil: nobody asks.
	Uses     *Uses
	declared map[string]bool
	// members are the names in $params, $vars and $secrets, with the lines on which they are
	// declared.
	members map[string]map[string]int
}

// NewScope makes a scope with the names of parameters and of secrets.
func NewScope(params, secrets []string, defs *Defs) *Scope {
	s := &Scope{Defs: defs, declared: map[string]bool{}, members: map[string]map[string]int{"$params": {}, "$vars": {}, "$secrets": {}}}
	for _, name := range params {
		s.add("$params", name, 0)
	}
	for _, name := range secrets {
		s.add("$secrets", name, 0)
	}
	return s
}

// Add declares the name of a step or variable, on a line.
func (s *Scope) Add(name string, line int) {
	s.add("$vars", name, line)
	s.Uses.know(name)
}

// AddCredential declares the name of a secret or an option, on a line.
func (s *Scope) AddCredential(name string, line int) { s.add("$secrets", name, line) }

func (s *Scope) add(to, name string, line int) {
	s.declared[name] = true
	s.members[to][name] = line
}

// With returns a scope with one more name, and leaves the receiver as it is.
func (s *Scope) With(name string) *Scope {
	inner := *s
	inner.declared = maps.Clone(s.declared)
	inner.declared[name] = true
	return &inner
}

// Stage is when a program of a source runs.
type Stage int

// The stages.
const (
	// Asking: before the reply of the source's own request.
	Asking Stage = iota
	// Answering: after it, when there are no secrets any more.
	Answering
	// Presenting: when an answer is presented, and only its input is left.
	Presenting
)

// Check reports what a program reads of $params, $vars and $secrets and is never there.
func (s *Scope) Check(e *declare.Expr, at Stage, problems *declare.Problems) {
	own, called := s.Defs.Members(e)
	for _, m := range own {
		wrong, elsewhere := s.missing(m, at)
		switch {
		case elsewhere:
			s.Uses.miss(m.Name, m.In(e))
		case !wrong.IsZero():
			problems.Add(m.In(e), "jq: %s", wrong)
		}
	}
	for _, m := range slices.Concat(own, called) {
		s.note(m)
	}
}

// missing says what is wrong with what a program reads, if anything is. elsewhere: it may
// be of another source, with which the program is shared.
func (s *Scope) missing(m Member, at Stage) (wrong words.Text, elsewhere bool) {
	_, declared := s.members[m.Variable][m.Name]
	switch {
	case m.Variable == "$vars" && at == Presenting:
		return declare.Say("$vars: only programs of a source have them; expected what it makes in its data, for example map: {x: $vars.x}"), false
	case m.Variable == "$secrets" && at != Asking:
		return declare.Say("$secrets: there are none once the service has replied; expected them in a program before, for example vars: {sign: $secrets.key | md5}"), false
	case declared, m.Name == "":
		return wrong, false
	case m.Variable == "$vars":
		return wrong, s.Uses != nil
	case m.Variable == "$secrets":
		return declare.Say("$secrets.%s: no secret and no option has this name%s", m.Name, expected(m.Name, s.members["$secrets"], "secrets: {"+m.Name+": SUNDRY_EXAMPLE_KEY}")), false
	}
	return declare.Say("$params.%s: no input has this name%s", m.Name, expected(m.Name, s.members["$params"], "params: [{name: "+m.Name+", type: string, example: x}]")), false
}

// expected adds the names that there are or, where there are none, how one is declared.
func expected[T any](name string, declared map[string]T, example string) words.Text {
	if len(declared) == 0 {
		return declare.Say("; expected it declared, for example %s", example)
	}
	return declare.Expected(name, slices.Sorted(maps.Keys(declared)))
}

// note notes that a name is read; without a name, that all are.
func (s *Scope) note(m Member) {
	for name, line := range s.members[m.Variable] {
		if m.Name == "" || m.Name == name {
			s.Uses.read(name, line)
		}
	}
}

// noteName notes that a template reads a name.
func (s *Scope) noteName(name string) {
	for variable := range s.members {
		s.note(Member{variable, name})
	}
}

// word matches the names that a program may refer to.
var word = regexp.MustCompile(`[a-z][a-z0-9_]*`)

// Variable is a placeholder whose value a program computes.
type Variable struct {
	Name    string
	Program *Program
}

// namePattern matches the names that placeholders can refer to.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// IsName reports whether placeholders can refer to a name: it begins with a
// lower-case letter, followed by lower-case letters, digits and underscores.
func IsName(name string) bool { return namePattern.MatchString(name) }

// CompileVars compiles the programs of variables, in the order of their names, and
// then adds them to the scope: they cannot refer to each other. Mistakes go to
// problems.
func CompileVars(specs map[string]declare.Expr, scope *Scope, problems *declare.Problems) []Variable {
	var out []Variable
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		e := specs[name]
		if !IsName(name) {
			problems.Add(e.Line, "var %q: expected a name of lower-case letters, digits and underscores, for example page_token", name)
		}
		out = append(out, Variable{name, Compile(&e, scope.Defs, problems)})
		scope.Check(&e, Asking, problems)
	}
	for _, v := range out {
		line := specs[v.Name].Line
		scope.Add(v.Name, line)
		scope.Uses.Declare("var", v.Name, line)
	}
	return out
}
