package upstreams

import (
	"regexp"
	"slices"
	"strings"

	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
)

// word finds the names that a program may refer to.
var word = regexp.MustCompile(`[a-z][a-z0-9_]*`)

// allVars finds $vars where it is read without the name of one of them.
var allVars = regexp.MustCompile(`\$vars\s*([^.\s]|\.[^a-z]|\.?$)`)

// readsSecrets tells whether a program makes its value of a secret: of $secrets, or of
// vars that do, by their names or all together. nil reads nothing.
func readsSecrets(e *declare.Expr, secret map[string]bool) bool {
	if e == nil || len(secret) == 0 {
		return false
	}
	if strings.Contains(e.Source, "$secrets") || allVars.MatchString(e.Source) {
		return true
	}
	return strings.Contains(e.Source, "$vars") &&
		slices.ContainsFunc(word.FindAllString(e.Source, -1), func(name string) bool { return secret[name] })
}

// traceSecrets notes what is computed from secrets, in the order in which that
// is done.
func (s *Source) traceSecrets(spec *SourceSpec) {
	secret := map[string]bool{}
	for name := range spec.Secrets {
		secret[name] = true
	}
	for i := range s.before {
		st := &s.before[i]
		traceVars(st.vars, spec.Before[i].Vars, secret)
		if st.get != nil {
			st.get.tracePrograms(spec.Before[i].HTTP, secret)
			st.bearer = st.get.bears(secret)
		}
		if st.secret = readsSecrets(spec.Before[i].Keep, secret); st.secret {
			secret[st.name] = true
		}
	}
	traceVars(s.vars, spec.Vars, secret)
	if g, ok := s.kind.(*getter); ok {
		g.tracePrograms(spec.HTTP, secret)
	}
}

// traceVars marks vars that are secrets. They do not see one another.
func traceVars(vars []variable, programs map[string]declare.Expr, secret map[string]bool) {
	for i := range vars {
		e := programs[vars[i].name]
		vars[i].secret = readsSecrets(&e, secret)
	}
	for i := range vars {
		secret[vars[i].name] = secret[vars[i].name] || vars[i].secret
	}
}

func (g *getter) tracePrograms(spec *HTTPSpec, secret map[string]bool) {
	g.signs, g.signsParts = readsSecrets(spec.JSON, secret), readsSecrets(spec.Parts.Program, secret)
}

// bears tells whether a request shows a secret, or is signed with one.
func (g *getter) bears(secret map[string]bool) bool {
	templates := []jq.Template{g.path, g.raw}
	for _, p := range slices.Concat(g.query, g.headers, g.form) {
		templates = append(templates, p.value)
	}
	return g.signs || slices.ContainsFunc(templates, func(t jq.Template) bool {
		return slices.ContainsFunc(t.Names, func(name string) bool { return secret[name] })
	})
}
