package catalog

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"sundry/metrics/words"
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
	// Choices are all values with their names, in the order in which they are shown; nil:
	// the values have none.
	Choices []Choice
	// Allowed says in words what values are allowed.
	Allowed    words.Text
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

// ParamError is a caller's mistake in one parameter, told in both languages. It is a
// words.Both: it makes its words when they are needed, because mistakes come in floods.
type ParamError struct {
	Parameter string
	Missing   bool
	Forbidden bool // the value names a target that must not be reached

	param *Param     // nil: it is a mistake in the query as a whole
	value string     // as the caller wrote it; "" if it must not be repeated
	wrong words.Text // what is wrong with it, or with the query
}

func (e *ParamError) Error() string { return e.EN() }

// EN is what the caller is told in English.
func (e *ParamError) EN() string {
	p := e.param
	switch {
	case p == nil:
		return e.wrong.EN()
	case e.Missing:
		return "parameter " + p.Name + " is missing; expected " + p.Allowed.EN() + ", for example " + p.Name + "=" + p.Example
	}
	var buf [64]byte
	value := append(buf[:0], "the value"...)
	if e.value != "" {
		value = strconv.AppendQuote(buf[:0], e.value)
	}
	return "parameter " + p.Name + ": " + string(value) + " " + e.wrong.EN() + "; expected " + p.Allowed.EN() + ", for example " + p.Name + "=" + p.Example
}

// ZH is the same in Chinese.
func (e *ParamError) ZH() string {
	p := e.param
	if p == nil {
		return e.wrong.ZH()
	}
	if e.Missing {
		return words.Join("缺少参数 ", p.Name, "；应为", p.Allowed.ZH(), "，例如 ", p.Name, "=", p.Example)
	}
	value := "所给的值"
	if e.value != "" {
		quoted := strconv.Quote(e.value)
		value = "“" + quoted[1:len(quoted)-1] + "”"
	}
	return words.Join("参数 ", p.Name, " 有误：", value, e.wrong.ZH(), "；应为", p.Allowed.ZH(), "，例如 ", p.Name, "=", p.Example)
}

// Expected says which parameter is at fault and what it takes, without the value, and goes on with an
// example; why a target is forbidden, instead; zero where that is not of a parameter.
func (e *ParamError) Expected() (takes, example words.Text) {
	if e.param == nil {
		return words.Text{}, words.Text{}
	}
	if e.Forbidden {
		return words.Sayf("%s: the value %s", "%s：所给的值%s", e.Parameter, e.wrong), words.Text{}
	}
	value := e.Parameter + "=" + e.param.Example
	example = words.Say(", for example "+value, "，例如 "+value)
	if e.Missing {
		return words.Name(e.Parameter), example
	}
	return words.Say(e.Parameter+": expected "+e.param.Allowed.EN(), e.Parameter+"："+words.Join("应为", e.param.Allowed.ZH())), example
}

var (
	paramName    = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)
	callbackPath = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*(\.[A-Za-z_$][A-Za-z0-9_$]*)*$`)
	selectorText = regexp.MustCompile(`^[A-Za-z0-9_\-#.:\[\]="'()*^$|~>+, ]+$`)
	textMax      = 512
)

// Mistakes in values. The sentence begins with the value.
var (
	errNotValid      = words.NewError("is not valid", "无效")
	errNotAllowed    = words.NewError("is not allowed", "不在允许的取值之内")
	errNotWhole      = words.NewError("is not a whole number", "不是整数")
	errNotDigits     = words.NewError("has characters other than digits", "含有数字以外的字符")
	errLeadingZero   = words.NewError("begins with 0", "以 0 开头")
	errOutOfRange    = words.NewError("is out of range", "超出范围")
	errNotDate       = words.NewError("is not a date", "不是日期")
	errFuture        = words.NewError("is in the future", "是将来的日期")
	errNotSelector   = words.NewError("is not a selector", "不是选择器")
	errNotFunction   = words.NewError("is not a function name", "不是函数名")
	errNotAddress    = words.NewError("is not an IP address", "不是 IP 地址")
	errNotPercentEnc = words.NewError("is not percent-encoded correctly", "的百分号编码不正确")
	errNotUTF8       = words.NewError("is not UTF-8", "不是 UTF-8 编码")
)

// compileParam checks the declaration and makes its parser.
func compileParam(s paramSpec, forms []string, problems *declare.Problems) *Param {
	p := &Param{
		Name: s.Name.Value, Type: s.Type, Role: s.Role, Required: s.Required, Personal: s.Personal,
		Caller: s.From == fromCaller, link: s.Type == "url" || s.Type == "share", Example: s.Example, EN: s.Summary.EN(), ZH: s.Summary.ZH(), Spec: s,
		derive: derivationOf(s.From), aliasOf: -1,
	}
	line := s.Name.Line
	if !paramName.MatchString(p.Name) {
		problems.Add(line, "param %q: expected a name of lower-case letters, digits and underscores, for example page_size", p.Name)
	}
	switch {
	case p.derive != nil:
		return p
	case p.Caller && s.Type != "ip":
		problems.Add(line, "param %s: from: caller: expected beside type: ip, or one of address, agent and today", p.Name)
	}
	if s.Required && s.Default != nil {
		problems.Add(s.Default.Line, "param %s: required and default: expected one of them: a required parameter is never absent, as in required: true", p.Name)
	}
	p.compileSubstitution(&s, problems)
	p.setParser(s, forms, problems)
	if p.parse == nil {
		return p
	}
	p.compileChoices(problems)
	if s.Default != nil {
		v, err := p.parse(s.Default.Value)
		if err != nil {
			problems.Add(s.Default.Line, "param %s: default %q %s; expected %s", p.Name, s.Default.Value, whyNot(err), p.Allowed)
		}
		p.Default = v
	}
	if s.Example == "" {
		problems.Add(line, "param %s: example: expected a value that the parameter accepts", p.Name)
	} else if _, err := p.parse(s.Example); err != nil {
		problems.Add(line, "param %s: example %q %s; expected %s", p.Name, s.Example, whyNot(err), p.Allowed)
	}
	return p
}

// whyNot is what is wrong with a value.
func whyNot(err error) words.Text {
	return words.Say(err.Error(), words.Of(err, errNotValid.Words()).ZH())
}

// refuse is the answer to a wrong value: what is wrong, what is allowed, and
// an example. The value itself is repeated only where it is short, not personal
// and cannot hold a password.
func (p *Param) refuse(value string, why error) *ParamError {
	if p.Personal || len(value) > 40 || !utf8.ValidString(value) || strings.Contains(value, "@") {
		value = ""
	}
	return &ParamError{Parameter: p.Name, Forbidden: targetsForbidden(why), param: p, value: value, wrong: words.Of(why, errNotValid.Words())}
}

// missing is the answer to an absent required parameter.
func (p *Param) missing() *ParamError {
	return &ParamError{Parameter: p.Name, Missing: true, param: p}
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

// ValueFor is the first value that asks for a form, by its name; false: none does.
func (p *Param) ValueFor(form string) (value string, ok bool) {
	for _, v := range p.Spec.Enum {
		if of, ok := p.FormOf(v); ok && of == form {
			return v, true
		}
	}
	return "", false
}
