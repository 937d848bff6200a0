package jq

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"sundry/upstreams/declare"
)

// Scope are the names that the templates and programs of a source may refer to,
// and which of them stand for secrets. It grows as the source is compiled, from
// top to bottom. It is for one goroutine.
type Scope struct {
	// Defs are the functions that its programs may call.
	Defs             *Defs
	declared, secret map[string]bool
}

// NewScope is of parameters, and of secrets.
func NewScope(params, secrets []string, defs *Defs) *Scope {
	s := &Scope{defs, map[string]bool{}, map[string]bool{}}
	for _, name := range params {
		s.Add(name, false)
	}
	for _, name := range secrets {
		s.Add(name, true)
	}
	return s
}

// Add declares a name. One that stood for a secret still does.
func (s *Scope) Add(name string, secret bool) {
	s.declared[name] = true
	s.secret[name] = s.secret[name] || secret
}

// With is a scope with one name more; the receiver stays as it is.
func (s *Scope) With(name string) *Scope {
	inner := &Scope{s.Defs, maps.Clone(s.declared), s.secret}
	inner.declared[name] = true
	return inner
}

// word finds the names that a program may refer to.
var word = regexp.MustCompile(`[a-z][a-z0-9_]*`)

// allVars finds $vars where it is read without the name of one of them.
var allVars = regexp.MustCompile(`\$vars\s*([^.\s]|\.[^a-z]|\.?$)`)

// Reads tells whether a program makes its value of a secret: of $secrets, or of
// vars that do, by their names or all together. What the defs do that it calls,
// it does itself. nil reads nothing.
func (s *Scope) Reads(e *declare.Expr) bool {
	if e == nil || !s.hasSecrets() {
		return false
	}
	vars, named := false, false
	for _, text := range s.Defs.textsOf(e) {
		if strings.Contains(text, "$secrets") || allVars.MatchString(text) {
			return true
		}
		vars = vars || strings.Contains(text, "$vars")
		named = named || slices.ContainsFunc(word.FindAllString(text, -1), s.isSecret)
	}
	return vars && named
}

// Shows tells whether a template shows a secret.
func (s *Scope) Shows(t Template) bool { return slices.ContainsFunc(t.names, s.isSecret) }

func (s *Scope) isSecret(name string) bool { return s.secret[name] }

func (s *Scope) hasSecrets() bool {
	for _, is := range s.secret {
		if is {
			return true
		}
	}
	return false
}

// Variable is a placeholder computed by a program.
type Variable struct {
	Name    string
	Program *Program
	// Secret: it is computed from a secret.
	Secret bool
}

// nameForm is what a placeholder can refer to.
var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// IsName tells names that placeholders can refer to: of small letters, digits and
// underscores.
func IsName(name string) bool { return nameForm.MatchString(name) }

// CompileVars compiles placeholders' programs, in the order of their names, and
// declares them: they do not see one another.
func CompileVars(specs map[string]declare.Expr, scope *Scope, problems *declare.Problems) []Variable {
	var out []Variable
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		e := specs[name]
		if !IsName(name) {
			problems.Add(e.Line, "var %q: want a name of small letters, digits and _", name)
		}
		out = append(out, Variable{name, Compile(&e, scope.Defs, problems), scope.Reads(&e)})
	}
	for _, v := range out {
		scope.Add(v.Name, v.Secret)
	}
	return out
}
