package catalog

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sundry/metrics/words"
)

// maxParams is the most an endpoint may declare, so that a request's values
// need no allocation of their own.
const maxParams = 8

// maxPairs is the most parameters that a query may have, unknown ones counted:
// to ignore some of a long query could answer another question than was asked.
const maxPairs = 256

// Input is a request's checked, canonical input.
type Input struct {
	Endpoint *Endpoint
	// Form that was asked for.
	Form *Form
	// Callback of JSONP, or "".
	Callback string
	// Tail is the last line of a text form, or "".
	Tail string
	// Selector is the element that a script form writes to, or "".
	Selector string
	// Private means that the answer depends on the caller's address or software, or
	// on a value that only some know.
	Private bool
	// values are last: a hit needs only what stands before them.
	values [maxParams]any
	drawn  int  // the place of a value that was drawn
	from   *urn // nil: none was
}

// Draws are the inputs of which the query means one, all as likely; without a value that is drawn,
// the one. It is for endpoints that draw no more than one: see DrawsOne.
func (in Input) Draws() []Input {
	if in.from == nil {
		return []Input{in}
	}
	all := slices.Repeat([]Input{in}, len(in.from.values))
	for i, v := range in.from.values {
		all[i].values[in.drawn] = v
	}
	return all
}

// WithoutValues is what says how an answer is sent, and not which.
func (in Input) WithoutValues() Input {
	in.values, in.from = [maxParams]any{}, nil
	return in
}

// Caller is who asks.
type Caller struct {
	Addr netip.Addr
	// Header of the request, or nil. It is read only where an endpoint
	// declares so.
	Header http.Header
}

// Parse reads a raw query. Undeclared parameters are ignored; of a repeated
// one the first counts; white space around a value is dropped; an empty one counts as
// absent. With an error, Form is
// still the one that was asked for, where that can be told.
func (e *Endpoint) Parse(rawQuery string, caller Caller) (Input, *ParamError) {
	return e.ParseAt(rawQuery, caller, time.Now)
}

// ParseAt is Parse with a clock, which is asked only by endpoints whose answers
// are of a day.
func (e *Endpoint) ParseAt(rawQuery string, caller Caller, now func() time.Time) (Input, *ParamError) {
	in := Input{Endpoint: e, Form: e.Forms[0]}
	if n := strings.Count(rawQuery, "&") + 1; n > maxPairs {
		return in, &ParamError{wrong: words.Sayf("the query has %d parameters; expected at most %d", "查询串有 %d 个参数；最多 %d 个", n, maxPairs)}
	}
	if e.rest != nil {
		rawQuery = e.joinRest(rawQuery)
	}
	var seen [maxParams]bool
	var failed *ParamError
	for pair := range strings.SplitSeq(rawQuery, "&") {
		name, raw, _ := strings.Cut(pair, "=")
		i := e.param(name)
		if i < 0 || seen[i] {
			continue
		}
		seen[i] = true
		if raw == "" {
			continue
		}
		if err := in.set(i, raw); err != nil && failed == nil {
			failed = err
		}
	}
	err := in.complete(caller, now)
	if failed != nil {
		err = failed
	}
	return in, err
}

// param finds a declared parameter, in its plain or an escaped spelling.
func (e *Endpoint) param(name string) int {
	if strings.IndexByte(name, '%') >= 0 {
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
	}
	for i, p := range e.Params {
		if p.Name == name && p.derive == nil {
			return i
		}
	}
	return -1
}

// set decodes, checks and keeps one value.
func (in *Input) set(i int, raw string) *ParamError {
	p := in.Endpoint.Params[i]
	value, err := p.decode(raw)
	switch {
	case err != nil:
		return p.refuse(raw, errNotPercentEnc)
	case !utf8.ValidString(value):
		return p.refuse(value, errNotUTF8)
	case value == "":
		return nil
	}
	v, err := p.parse(value)
	if err != nil {
		return p.refuse(value, err)
	}
	in.values[i] = v
	return nil
}

// complete fills in absent values and picks the form: the first form parameter
// that is present decides, even if a required one is missing.
func (in *Input) complete(caller Caller, now func() time.Time) *ParamError {
	in.resolveAliases()
	var failed *ParamError
	chosen := false
	for i, p := range in.Endpoint.Params {
		v := in.values[i]
		switch {
		case p.Role == RoleCallback:
			in.Callback, _ = v.(string)
		case p.Role == RoleTail:
			in.Tail = textOr(v, p.Default)
		case p.Role == RoleSelector:
			in.Selector = textOr(v, p.Default)
		case p.Role == RoleForm:
			if name, ok := v.(string); ok && !chosen {
				in.Form, chosen = in.Endpoint.form(name), true
			}
		case p.derive != nil:
			in.values[i] = p.derive(caller, now)
			in.Private = in.Private || p.Spec.From != fromToday
		case v != nil && p.Spec.Type == "date":
			if err := p.tooLate(v, now()); err != nil && failed == nil {
				failed = err
			}
		case v == nil && p.Caller:
			in.values[i], in.Private = callerAddress(caller, nil), true
		case v == nil && p.Required:
			if failed == nil {
				failed = p.missing()
			}
		case v == nil:
			in.values[i] = p.Default
		}
		in.Private = in.Private || p.Spec.Private && in.values[i] != nil
		if p.substitute != nil {
			in.substitute(i, caller)
		}
	}
	return failed
}

// substitute replaces a value, if it stands for others.
func (in *Input) substitute(i int, caller Caller) {
	v := in.values[i]
	by, from := in.Endpoint.Params[i].substitute(v, caller)
	if in.values[i] = by; from != nil {
		in.drawn, in.from = i, from
	}
	in.Private = in.Private || from != nil || by != v
}

// resolveAliases moves the values of aliases (stands_for) to the inputs that
// they set: the first that is present counts.
func (in *Input) resolveAliases() {
	for i, p := range in.Endpoint.Params {
		if p.aliasOf < 0 || in.values[i] == nil {
			continue
		}
		if in.values[p.aliasOf] == nil {
			in.values[p.aliasOf] = in.values[i]
		}
		in.values[i] = nil
	}
}

// textOr is a parameter's text, or the default of one that is absent.
func textOr(v, otherwise any) string {
	if v == nil {
		v = otherwise
	}
	text, _ := v.(string)
	return text
}

// joinRest escapes what follows an unescaped URL that is a parameter's value:
// its own query, which callers often leave as it is.
func (e *Endpoint) joinRest(rawQuery string) string {
	if !strings.Contains(rawQuery, "://") && !strings.Contains(rawQuery, "?") {
		return rawQuery
	}
	var own, link strings.Builder // the value with an unescaped & comes last
	for pair := range strings.SplitSeq(rawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		switch i := e.param(name); {
		case link.Len() > 0 && !e.takes(i, value):
			link.WriteString("%26")
			link.WriteString(pair)
		case i >= 0 && e.Params[i] == e.rest && strings.Contains(value, "?"):
			link.WriteByte('&')
			link.WriteString(pair)
		default:
			own.WriteByte('&')
			own.WriteString(pair)
		}
	}
	return own.String() + link.String()
}

// takes reports whether a parameter accepts a value; the one whose value may contain
// an unescaped & does not count.
func (e *Endpoint) takes(i int, raw string) bool {
	if i < 0 || e.Params[i] == e.rest || raw == "" {
		return false
	}
	_, err := e.Params[i].parse(textOf(raw))
	return err == nil
}

// ErrorFormat is the format in which a caller asked for errors. The zero value
// is a JSON body.
type ErrorFormat struct {
	// Text means one line of text.
	Text bool
	// Callback is the function to be called with the JSON body, or "".
	Callback string
}

// ErrorFormat looks for type=text, in any case, whether or not the endpoint has such a form, and
// for a valid callback where it has one, whatever else is wrong with the query.
// A nil Endpoint stands for one that is not there.
func (e *Endpoint) ErrorFormat(rawQuery string) ErrorFormat {
	var format ErrorFormat
	callback := e.Callback()
	for pair := range strings.SplitSeq(rawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		switch name = unescaped(name); {
		case name == "type" && strings.EqualFold(textOf(value), "text"):
			format.Text = true
		case callback != nil && name == callback.Name:
			if v, err := callback.parse(textOf(value)); err == nil {
				format.Callback, _ = v.(string)
			}
			callback = nil // the first counts
		}
	}
	return format
}

// languageParameter is the query parameter with which callers choose the language of errors.
// It is reserved, except for an endpoint that declares one of that name.
const languageParameter = "lang"

// LanguageQuery is the part of a query in which the caller may choose the language of errors:
// nothing where the endpoint has a parameter of that name, and nothing of a link's own query.
// A nil Endpoint stands for one that is not there.
func (e *Endpoint) LanguageQuery(rawQuery string) string {
	switch {
	case e == nil:
	case e.param(languageParameter) >= 0:
		return ""
	case e.rest != nil:
		return e.joinRest(rawQuery)
	}
	return rawQuery
}

// ChosenForm is the form that a query asks for, whatever else is wrong with it; nil if
// it asks for none.
func (e *Endpoint) ChosenForm(rawQuery string) *Form {
	if e.rest != nil {
		rawQuery = e.joinRest(rawQuery)
	}
	var seen [maxParams]bool
	first, chosen := len(e.Params), (*Form)(nil) // the first form parameter decides
	for pair := range strings.SplitSeq(rawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		i := e.param(name)
		if i < 0 || seen[i] {
			continue
		}
		seen[i] = true
		if form, ok := e.Params[i].FormOf(textOf(value)); ok && i < first {
			first, chosen = i, e.form(form)
		}
	}
	return chosen
}

// AskFor is the first parameter that asks for a form, and its value; "" twice: none does,
// and the form is had by default or not at all.
func (e *Endpoint) AskFor(form string) (name, value string) {
	for _, p := range e.Params {
		if v, ok := p.ValueFor(form); ok {
			return p.Name, v
		}
	}
	return "", ""
}

// Callback is the parameter that names a JavaScript function (JSONP); nil: there is none,
// or no endpoint.
func (e *Endpoint) Callback() *Param {
	if e == nil {
		return nil
	}
	i := slices.IndexFunc(e.Params, func(p *Param) bool { return p.Role == RoleCallback })
	if i < 0 {
		return nil
	}
	return e.Params[i]
}
