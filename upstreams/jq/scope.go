package jq

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"sundry/upstreams/declare"
)

// Scope has the names that the templates and programs of a source may refer to, and
// notes which of them have secret values. It grows as the source is compiled, from
// top to bottom. It is not safe for concurrent use.
type Scope struct {
	// Defs are the functions that programs may call; nil: none.
	Defs             *Defs
	declared, secret map[string]bool
}

// NewScope makes a scope with the names of parameters and of secrets.
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

// Add declares a name. A name that is secret stays so.
func (s *Scope) Add(name string, secret bool) {
	s.declared[name] = true
	s.secret[name] = s.secret[name] || secret
}

// With returns a scope with one more name, and leaves the receiver as it is.
func (s *Scope) With(name string) *Scope {
	inner := &Scope{s.Defs, maps.Clone(s.declared), s.secret}
	inner.declared[name] = true
	return inner
}

// word matches the names that a program may refer to.
var word = regexp.MustCompile(`[a-z][a-z0-9_]*`)

// allVars matches $vars where it is not followed by the name of a variable, so that
// the program may read any of them.
var allVars = regexp.MustCompile(`\$vars\s*([^.\s]|\.[^a-z]|\.?$)`)

// ReadsSecret reports whether a program, or a def that it calls, may read a secret:
// $secrets, a secret variable, or $vars as a whole. nil reads nothing. It is decided
// by the text, so it may be true of a program that does not.
func (s *Scope) ReadsSecret(e *declare.Expr) bool {
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

// ShowsSecret reports whether a template contains the placeholder of a secret.
func (s *Scope) ShowsSecret(t Template) bool { return slices.ContainsFunc(t.names, s.isSecret) }

func (s *Scope) isSecret(name string) bool { return s.secret[name] }

func (s *Scope) hasSecrets() bool {
	for _, is := range s.secret {
		if is {
			return true
		}
	}
	return false
}

// Variable is a placeholder whose value a program computes.
type Variable struct {
	Name    string
	Program *Program
	// Secret says that the program may read a secret.
	Secret bool
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
		out = append(out, Variable{name, Compile(&e, scope.Defs, problems), scope.ReadsSecret(&e)})
	}
	for _, v := range out {
		scope.Add(v.Name, v.Secret)
	}
	return out
}
