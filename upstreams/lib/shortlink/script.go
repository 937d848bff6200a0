package shortlink

import "slices"

// move is a redirect in a script.
type move struct {
	target value
	scope  int
	reach  reach // if its function runs
}

// value is an expression that a redirect may lead to: a text, or a variable.
type value struct {
	text, variable string
	decoded        bool // by decodeURIComponent
	ok             bool // false for any other expression
}

// frame is an open bracket, or the body of an arrow function without braces, ">".
type frame struct {
	symbol        string
	at            int    // its token
	scope         int    // to return to at its end
	block, pause  bool   // the conditions around it
	callee, first string // of a call: its name, and its first argument if that is a text
	control       bool   // of parentheses: those of an if
	isBlock       bool   // of braces: neither a function nor an object
	body          int    // the function whose body it is; 0 for none
}

// script reads the scripts of a page, in one pass, for its redirects. It runs nothing, and
// what it does not understand is never followed.
type script struct {
	calls
	moves     []move
	variables map[string][]value // up to two values of each variable

	tokens []token
	frames []frame
	scope  int
	left   map[int]bool // functions that a condition may have left
	// block and statement report whether a condition of the function decides if the
	// current block and the current statement run.
	block, statement bool
	closed           frame // the last one
	nested           bool  // it is the text that setTimeout runs
}

// redirects returns the targets that the scripts lead to when their page is opened.
// unsure means that they lead elsewhere, or only on a condition.
func (s *script) redirects() (targets []string, unsure bool) {
	s.spread()
	for _, m := range s.moves {
		r := min(m.reach, s.functions[m.scope].reach)
		text, ok := s.resolve(m.target)
		switch {
		case r == never:
		case r == always && ok:
			if text != "" && text[0] != '#' {
				targets = append(targets, text)
			}
		default:
			unsure = true
		}
	}
	return targets, unsure
}

func readScripts(texts []string) *script {
	s := &script{variables: map[string][]value{}, left: map[int]bool{}}
	s.functions, s.named = make([]function, 1), map[string][]int{}
	for _, text := range texts {
		s.read(tokenize(text), 0, false)
	}
	return s
}

// read reads the tokens of a script, which are a part of a function.
func (s *script) read(tokens []token, scope int, conditional bool) {
	s.tokens, s.frames, s.scope, s.block, s.statement, s.closed = tokens, nil, scope, conditional, false, frame{}
	for i, t := range tokens {
		if s.endsBefore(i) {
			s.endStatement()
		}
		switch t.kind {
		case symbolToken:
			s.symbol(i, t.text)
		case nameToken:
			s.name(i, t.text)
		}
	}
}

// at returns a token, an empty one outside of the script.
func (s *script) at(i int) token {
	if i < 0 || i >= len(s.tokens) {
		return token{}
	}
	return s.tokens[i]
}

// endsBefore reports whether a line break ends a statement before a token.
func (s *script) endsBefore(i int) bool {
	before, t := s.at(i-1), s.tokens[i]
	if !t.line || i == 0 || s.inParentheses() || t.kind == symbolToken && t.text != "{" && t.text != "}" && t.text != "!" {
		return false
	}
	switch {
	case before.is(")"):
		return !s.closed.control
	case before.kind == symbolToken:
		return before.text == "]" || before.text == "}"
	}
	return !slices.Contains([]string{"else", "do", "return"}, before.text) || before.kind != nameToken
}

func (s *script) inParentheses() bool {
	n := len(s.frames)
	return n > 0 && (s.frames[n-1].symbol == "(" || s.frames[n-1].symbol == "[")
}

// endStatement also ends an arrow function without braces.
func (s *script) endStatement() {
	s.endArrow()
	s.statement = false
}

func (s *script) endArrow() {
	for n := len(s.frames); n > 0 && s.frames[n-1].symbol == ">"; n-- {
		s.pop()
	}
}

func (s *script) symbol(i int, text string) {
	switch text {
	case "(", "[":
		f := frame{symbol: text}
		if before := s.at(i - 1); text == "(" && before.kind == nameToken {
			f.callee, f.control = before.text, isControl(before)
		}
		if first := s.at(i + 1); first.kind == textToken {
			f.first = first.text
		}
		s.push(i, f)
	case "{":
		s.brace(i)
	case ")", "]", "}":
		s.end(i, map[string]string{")": "(", "]": "[", "}": "{"}[text])
	case "=>":
		if before := s.at(i - 1); before.kind == nameToken {
			s.assign(before.text, value{})
		}
		if !s.at(i + 1).is("{") {
			s.enter(i, s.arrowStart(i), "", ">")
		}
	case ";":
		s.endStatement()
	case ",":
		s.endArrow()
	case "&&", "||", "??", "?":
		s.statement = true
	}
}

// push opens a bracket. The conditions of the statement are those of what it holds.
func (s *script) push(i int, f frame) {
	f.at, f.scope, f.block, f.pause = i, s.scope, s.block, s.statement
	s.frames = append(s.frames, f)
	s.block, s.statement = s.block || s.statement, false
}

func (s *script) pop() {
	n := len(s.frames)
	s.closed, s.frames = s.frames[n-1], s.frames[:n-1]
	s.scope, s.block, s.statement = s.closed.scope, s.closed.block, s.closed.pause && !s.closed.isBlock
}

// brace opens the body of a function, a block, or an object.
func (s *script) brace(i int) {
	before := s.at(i - 1)
	switch {
	case before.is(")") && !s.closed.control:
		start, name := s.functionStart(s.closed.at)
		s.enter(i, start, name, "{")
	case before.is("=>"):
		s.enter(i, s.arrowStart(i-1), "", "{")
	default:
		if before.is(")") || before.kind == nameToken && (before.text == "else" || before.text == "do") {
			s.statement = true
		}
		isBlock := before.kind != symbolToken || slices.Contains([]string{")", ";", "{", "}", "=>"}, before.text)
		s.push(i, frame{symbol: "{", isBlock: isBlock && before.text != "return"})
	}
}

// end closes a bracket, unless it does not match.
func (s *script) end(i int, open string) {
	s.endArrow()
	if n := len(s.frames); n == 0 || s.frames[n-1].symbol != open {
		return
	}
	s.pop()
	f := s.closed
	next := s.at(i + 1)
	switch {
	case f.control:
		s.statement = true
	case open == "(" && (next.is("{") || next.is("=>")):
		s.declareParameters(i)
	case open == "(" && f.callee != "":
		s.called(f, i)
	case f.body > 0 && s.isCalled(i+1):
		s.use(use{scope: f.body, reach: always})
	}
}

// isCalled reports whether a function that ends before a token is called there.
func (s *script) isCalled(i int) bool {
	if s.at(i).is(")") {
		i++
	}
	return s.at(i).is("(") || s.at(i).is(".") && (s.at(i+1).text == "call" || s.at(i+1).text == "apply")
}

// called processes the end of a call.
func (s *script) called(f frame, i int) {
	s.use(use{name: f.callee, reach: always})
	switch {
	case f.callee == "eval", f.callee == "submit" && i == f.at+1 && s.at(f.at-2).is("."):
		s.move(value{})
	case (f.callee == "setTimeout" || f.callee == "setInterval") && f.first != "" && !s.nested:
		outer := *s
		s.nested = true
		s.read(tokenize(f.first), s.scope, s.here() != always)
		outer.calls, outer.moves = s.calls, s.moves
		*s = outer
	}
}

// use notes that the current function uses another one.
func (s *script) use(u use) {
	u.reach = min(u.reach, s.here())
	from := &s.functions[s.scope]
	from.uses = append(from.uses, u)
}

// here is how far the current statement is reached if its function is.
func (s *script) here() reach {
	if s.block || s.statement || s.left[s.scope] {
		return perhaps
	}
	return always
}

func (s *script) move(to value) {
	s.moves = append(s.moves, move{to, s.scope, s.here()})
}
