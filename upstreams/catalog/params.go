package catalog

import (
	"cmp"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"sundry/upstreams/declare"
)

// Roles of parameters.
const (
	RoleInput    = ""
	RoleForm     = "form"
	RoleCallback = "callback"
	RoleTail     = "tail"
)

// Param is a compiled parameter.
type Param struct {
	Name     string
	Type     string
	Role     string
	Required bool
	Personal bool
	Caller   bool // the caller's address stands in
	link     bool // its values may hold more than a host
	Example  string
	EN, ZH   string
	// Allowed says in words what values are allowed.
	Allowed string
	Default any
	Spec    paramSpec
	parse   func(string) (any, error)
	given   giver   // of a value that no query can give; else nil
	choose  chooser // nil: the value stays
	target  int     // the input that it stands for; -1 for none
}

// MaxLen is the longest text that is allowed, in characters.
func (p *Param) MaxLen() int { return cmp.Or(p.Spec.MaxLen, textMax) }

// Hidden tells a value that no caller can give.
func (p *Param) Hidden() bool { return p.given != nil }

// ParamError is a caller's mistake in one parameter.
type ParamError struct {
	Parameter string
	Missing   bool
	Forbidden bool // the value leads where nothing may
	Message   string
}

func (e *ParamError) Error() string { return e.Message }

var (
	paramName    = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)
	callbackPath = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*(\.[A-Za-z_$][A-Za-z0-9_$]*)*$`)
	callbackMax  = 64
	textMax      = 512
	errNotWhole  = errors.New("is not a whole number")
)

// compileParam checks the declaration and makes its parser.
func compileParam(s paramSpec, forms []string, problems *declare.Problems) *Param {
	p := &Param{
		Name: s.Name.Value, Type: s.Type, Role: s.Role, Required: s.Required, Personal: s.Personal,
		Caller: s.From == fromCaller, link: s.Type == "url" || s.Type == "share", Example: s.Example, EN: s.Summary.EN, ZH: s.Summary.ZH, Spec: s,
		given: giverOf(s.From), target: -1,
	}
	line := s.Name.Line
	if !paramName.MatchString(p.Name) {
		problems.Add(line, "param %q: want a name of small letters, digits and _", p.Name)
	}
	switch {
	case p.given != nil:
		return p
	case s.From != "" && (!p.Caller || s.Type != "ip"):
		problems.Add(line, "param %s: from: %q: want caller, on a param of type ip, or address, agent or today", p.Name, s.From)
	}
	p.compileChooser(&s, problems)
	p.setParser(s, forms, problems)
	if p.parse == nil {
		return p
	}
	if s.Default != nil {
		v, err := p.parse(s.Default.Value)
		if err != nil {
			problems.Add(s.Default.Line, "param %s: default %q %v", p.Name, s.Default.Value, err)
		}
		p.Default = v
	}
	if s.Example == "" {
		problems.Add(line, "param %s: no example", p.Name)
	} else if _, err := p.parse(s.Example); err != nil {
		problems.Add(line, "param %s: example %q %v", p.Name, s.Example, err)
	}
	return p
}

// refuse is the answer to a wrong value: what is wrong, what is allowed, and
// an example. The value itself is repeated only where it is short, not personal
// and cannot hold a password.
func (p *Param) refuse(value string, why error) *ParamError {
	var room [64]byte
	shown := append(room[:0], "its value"...)
	if !p.Personal && len(value) <= 40 && utf8.ValidString(value) && !strings.Contains(value, "@") {
		shown = strconv.AppendQuote(room[:0], value)
	}
	return &ParamError{Parameter: p.Name, Forbidden: targetsForbidden(why), Message: "parameter " + p.Name + ": " + string(shown) + " " + why.Error() +
		"; want " + p.Allowed + ", for example " + p.Name + "=" + p.Example}
}

// missing is the answer to an absent required parameter.
func (p *Param) missing() *ParamError {
	return &ParamError{Parameter: p.Name, Missing: true, Message: "parameter " + p.Name + " is missing; want " + p.Allowed +
		", for example " + p.Name + "=" + p.Example}
}

// FormOf is the form that a value of a form parameter asks for.
func (p *Param) FormOf(value string) (form string, ok bool) {
	if p.Role != RoleForm {
		return "", false
	}
	v, err := p.parse(value)
	form, ok = v.(string)
	return form, ok && err == nil
}
