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
	RoleSelector = "selector"
)

// Param is a compiled parameter.
type Param struct {
	Name     string
	Type     string
	Role     string
	Required bool
	Personal bool
	Caller   bool // an absent value is the caller's address
	link     bool // its values may hold more than a host
	Example  string
	EN, ZH   string
	// Allowed says in words what values are allowed.
	Allowed    string
	Default    any
	Spec       paramSpec
	parse      func(string) (any, error)
	derive     derivation   // of a derived parameter; nil for one of the query
	substitute substitution // nil: the value stays
	aliasOf    int          // the input that it sets when that is absent; -1 for none
}

// MaxLen is the longest text that is allowed, in characters.
func (p *Param) MaxLen() int { return cmp.Or(p.Spec.MaxLen, textMax) }

// Derived reports whether the value follows from the request rather than from its
// query.
func (p *Param) Derived() bool { return p.derive != nil }

// ParamError is a caller's mistake in one parameter.
type ParamError struct {
	Parameter string
	Missing   bool
	Forbidden bool // the value names a target that must not be reached
	Message   string
}

func (e *ParamError) Error() string { return e.Message }

var (
	paramName    = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)
	callbackPath = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*(\.[A-Za-z_$][A-Za-z0-9_$]*)*$`)
	callbackMax  = 64
	selectorText = regexp.MustCompile(`^[A-Za-z0-9_\-#.:\[\]="'()*^$|~>+, ]+$`)
	selectorMax  = 64
	textMax      = 512
	errNotWhole  = errors.New("is not a whole number")
)

// compileParam checks the declaration and makes its parser.
func compileParam(s paramSpec, forms []string, problems *declare.Problems) *Param {
	p := &Param{
		Name: s.Name.Value, Type: s.Type, Role: s.Role, Required: s.Required, Personal: s.Personal,
		Caller: s.From == fromCaller, link: s.Type == "url" || s.Type == "share", Example: s.Example, EN: s.Summary.EN, ZH: s.Summary.ZH, Spec: s,
		derive: derivationOf(s.From), aliasOf: -1,
	}
	line := s.Name.Line
	if !paramName.MatchString(p.Name) {
		problems.Add(line, "param %q: expected a name of lower-case letters, digits and underscores, for example page_size", p.Name)
	}
	if (p.EN == "") != (p.ZH == "") {
		problems.Add(line, "param %s: summary: expected both languages or none, for example {en: Number of the joke., zh: 笑话编号。}", p.Name)
	}
	switch {
	case p.derive != nil:
		return p
	case s.From != "" && (!p.Caller || s.Type != "ip"):
		problems.Add(line, "param %s: from: expected address, agent, today, or caller if its type is ip, got %q", p.Name, s.From)
	}
	p.compileSubstitution(&s, problems)
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
		problems.Add(line, "param %s: example: expected a value that the parameter accepts", p.Name)
	} else if _, err := p.parse(s.Example); err != nil {
		problems.Add(line, "param %s: example %q %v", p.Name, s.Example, err)
	}
	return p
}

// refuse is the answer to a wrong value: what is wrong, what is allowed, and
// an example. The value itself is repeated only where it is short, not personal
// and cannot hold a password.
func (p *Param) refuse(value string, why error) *ParamError {
	var buf [64]byte
	shown := append(buf[:0], "the value"...)
	if !p.Personal && len(value) <= 40 && utf8.ValidString(value) && !strings.Contains(value, "@") {
		shown = strconv.AppendQuote(buf[:0], value)
	}
	return &ParamError{Parameter: p.Name, Forbidden: targetsForbidden(why), Message: "parameter " + p.Name + ": " + string(shown) + " " + why.Error() +
		"; expected " + p.Allowed + ", for example " + p.Name + "=" + p.Example}
}

// missing is the answer to an absent required parameter.
func (p *Param) missing() *ParamError {
	return &ParamError{Parameter: p.Name, Missing: true, Message: "parameter " + p.Name + " is missing; expected " + p.Allowed +
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
