package shortlink

import (
	"net/url"
	"slices"
	"strings"
)

// name processes a name: that of a variable, a function, or the location.
func (s *script) name(i int, text string) {
	before, next := s.at(i-1), s.at(i+1)
	switch {
	case text == "location":
		s.location(i)
	case text == "else" || text == "do":
		s.statement = s.statement || !next.is("{")
	case text == "return" || text == "throw":
		s.left[s.scope] = s.left[s.scope] || s.here() == perhaps
	case next.is("="):
		v, end := s.value(i + 2)
		if !s.ends(end) {
			v = value{}
		}
		if !before.is(".") {
			s.assign(text, v)
		}
		if v.variable != "" && strings.HasPrefix(text, "on") {
			s.use(use{name: v.variable, reach: reachOfEvent(text)})
		}
	case next.is("+="), next.is("++"), next.is("--"):
		s.assign(text, value{})
	case (before.is("(") || before.is(",")) && (next.is(",") || next.is(")")) && s.inParentheses():
		f := s.frames[len(s.frames)-1]
		s.use(use{name: text, reach: reachOfArgument(f.callee, f.first)})
	}
}

// assign notes a value of a variable.
func (s *script) assign(variable string, v value) {
	if values := s.variables[variable]; len(values) < 2 {
		s.variables[variable] = append(values, v)
	}
}

// declareParameters notes that those of a function, before a token, may have any value.
func (s *script) declareParameters(i int) {
	for i--; s.at(i).kind == nameToken || s.at(i).is(","); i-- {
		if s.at(i).kind == nameToken {
			s.assign(s.at(i).text, value{})
		}
	}
}

// functionStart returns the first token of a function, and its own name, by the
// parenthesis of its parameters.
func (s *script) functionStart(i int) (start int, name string) {
	start = i
	if before := s.at(start - 1); before.kind == nameToken && before.text != "function" {
		start, name = start-1, before.text
	}
	if s.at(start - 1).is("*") {
		start--
	}
	if s.at(start-1).text == "function" {
		start--
	}
	return s.withAsync(start), name
}

func (s *script) arrowStart(i int) int {
	if s.at(i - 1).is(")") {
		return s.withAsync(s.closed.at)
	}
	return s.withAsync(i - 1)
}

func (s *script) withAsync(start int) int {
	if s.at(start-1).text == "async" {
		start--
	}
	return start
}

// enter begins the body of a function. What is before the function says who calls it.
func (s *script) enter(i, start int, name, symbol string) {
	id := len(s.functions)
	s.functions = append(s.functions, function{})
	if name != "" {
		s.named[name] = append(s.named[name], id)
	}
	owner := s.at(start - 2).text
	switch before := s.at(start - 1); {
	case (before.is("(") || before.is(",")) && s.inParentheses():
		f := s.frames[len(s.frames)-1]
		s.use(use{scope: id, reach: reachOfArgument(f.callee, f.first)})
	case before.is("=") && strings.HasPrefix(owner, "on"):
		s.use(use{scope: id, reach: reachOfEvent(owner)})
	case before.is("="), before.is(":"):
		s.named[owner] = append(s.named[owner], id)
	}
	s.push(i, frame{symbol: symbol, body: id})
	s.scope, s.block, s.statement = id, false, false
}

// owners of the location of the page.
var owners = []string{"window", "self", "top", "parent", "document", "globalThis", "this"}

// location processes the page's location, if the script sets it.
func (s *script) location(i int) {
	for j := i; s.at(j-1).is(".") || s.at(j-1).is("?."); j -= 2 {
		if !slices.Contains(owners, s.at(j-2).text) {
			return
		}
	}
	member, next := s.member(i + 1)
	v, end := s.value(next + 1)
	switch {
	case s.at(next).is("=") && (member == "" || member == "href"):
		if !s.ends(end) {
			v = value{}
		}
		s.move(v)
	case s.at(next).is("(") && (member == "replace" || member == "assign"):
		if !s.at(end).is(")") || !s.ends(end+1) {
			v = value{}
		}
		s.move(v)
	case s.at(next).is("(") && member == "reload",
		s.at(next).is("=") && slices.Contains([]string{"search", "pathname", "host", "hostname", "port", "protocol"}, member):
		s.move(value{})
	}
}

// member returns the name after a dot or in brackets, "" without one, and the token after it.
func (s *script) member(i int) (name string, next int) {
	switch t, n := s.at(i), s.at(i+1); {
	case (t.is(".") || t.is("?.")) && n.kind == nameToken:
		return n.text, i + 2
	case t.is("[") && n.kind == textToken && s.at(i+2).is("]"):
		return n.text, i + 3
	}
	return "", i
}

// resolve returns the text of a value.
func (s *script) resolve(v value) (string, bool) {
	text := v.text
	if v.variable != "" {
		values := s.variables[v.variable]
		if len(values) != 1 || !values[0].ok || values[0].variable != "" {
			return "", false
		}
		text, v.decoded = values[0].text, v.decoded || values[0].decoded
	}
	if v.ok && v.decoded {
		plain, err := url.PathUnescape(text)
		return plain, err == nil
	}
	return text, v.ok
}

// first returns the first text that a variable has, nil for none.
func (s *script) first(variable string) []string {
	if values := s.variables[variable]; len(values) > 0 && values[0].ok && values[0].variable == "" {
		return []string{values[0].text}
	}
	return nil
}

// value returns the expression at a token, and the token after it.
func (s *script) value(i int) (v value, next int) {
	switch t := s.at(i); {
	case t.kind == textToken:
		return value{text: t.text, ok: true}, i + 1
	case t.kind == nameToken && s.at(i+1).is("("):
		if (t.text == "decodeURIComponent" || t.text == "decodeURI") && s.at(i+3).is(")") {
			v, _ = s.value(i + 2)
			v.decoded = true
			return v, i + 4
		}
	case t.kind == nameToken:
		return value{variable: t.text, ok: true}, i + 1
	}
	return value{}, i
}

// ends reports whether an expression ends before a token.
func (s *script) ends(i int) bool {
	t := s.at(i)
	if t.kind == symbolToken {
		return slices.Contains([]string{";", ")", "}", ","}, t.text)
	}
	return t.kind == 0 || t.line
}
