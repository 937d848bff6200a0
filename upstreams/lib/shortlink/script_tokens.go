package shortlink

import (
	"slices"
	"strings"
)

// Kinds of tokens.
const (
	nameToken   = 'n'
	textToken   = 's' // a string, or a template without substitutions
	otherToken  = 'o' // a number, a regular expression, a template with substitutions, or an error
	symbolToken = 'p'
)

// token is a token of a script.
type token struct {
	kind byte
	text string // of a string: its value
	line bool   // a line break precedes it
}

func (t token) is(symbol string) bool { return t.kind == symbolToken && t.text == symbol }

// lexer splits a script into tokens, without comments, in one pass.
type lexer struct {
	src    string
	tokens []token
	line   bool
	// control has an element for each open parenthesis: whether a keyword such as if
	// precedes it. A slash after such parentheses begins a regular expression.
	control    []bool
	afterIf    bool
	templates  []int // the depth of braces at the substitutions of open templates
	braceDepth int
}

// symbols of several characters, the longer first.
var symbols = []string{
	"===", "!==", "...", ">>>", "&&=", "||=", "??=", "**=", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "++", "--",
	"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
}

func tokenize(src string) []token {
	l := lexer{src: src, line: true}
	for l.src != "" {
		l.next()
	}
	return l.tokens
}

func (l *lexer) next() {
	c := l.src[0]
	switch {
	case c == '\n' || c == '\r':
		l.line = true
		l.src = l.src[1:]
	case c <= ' ':
		l.src = l.src[1:]
	case strings.HasPrefix(l.src, "//"), strings.HasPrefix(l.src, "<!--"), l.line && strings.HasPrefix(l.src, "-->"):
		l.src = l.src[lineEnd(l.src):]
	case strings.HasPrefix(l.src, "/*"):
		var comment string
		comment, l.src, _ = strings.Cut(l.src[2:], "*/")
		l.line = l.line || strings.ContainsAny(comment, "\r\n")
	case c == '"' || c == '\'':
		l.quoted(c)
	case c == '`':
		l.template(true)
	case isNameByte(c):
		l.name()
	case c == '/' && l.expressionBegins():
		l.regexp()
	default:
		l.symbol()
	}
}

func (l *lexer) add(kind byte, text string, size int) {
	l.tokens = append(l.tokens, token{kind, text, l.line})
	l.line, l.src = false, l.src[size:]
}

func lineEnd(s string) int {
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		return i
	}
	return len(s)
}

func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c == '\\' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func (l *lexer) name() {
	n, kind := 1, byte(nameToken)
	if l.src[0] >= '0' && l.src[0] <= '9' {
		kind = otherToken
	}
	for n < len(l.src) && isNameByte(l.src[n]) {
		n++
	}
	l.add(kind, l.src[:n], n)
}

// quoted reads a string. One that does not end in its line is an error.
func (l *lexer) quoted(quote byte) {
	for i := 1; i < len(l.src); i++ {
		switch l.src[i] {
		case '\\':
			i++
		case quote:
			l.add(textToken, unescape(l.src[1:i]), i+1)
			return
		case '\r', '\n':
			l.add(otherToken, "", i)
			return
		}
	}
	l.add(otherToken, "", len(l.src))
}

// template reads a template, or its rest after a substitution.
func (l *lexer) template(begins bool) {
	for i := 1; i < len(l.src); i++ {
		switch {
		case l.src[i] == '\\':
			i++
		case l.src[i] == '`' && begins:
			l.add(textToken, unescape(l.src[1:i]), i+1)
			return
		case l.src[i] == '`':
			l.add(otherToken, "", i+1)
			return
		case strings.HasPrefix(l.src[i:], "${"):
			l.templates = append(l.templates, l.braceDepth)
			l.add(otherToken, "", i+2)
			return
		}
	}
	l.add(otherToken, "", len(l.src))
}

// regexp reads a regular expression, where a slash in brackets does not end it. One that
// does not end in its line is an error.
func (l *lexer) regexp() {
	i, class := 1, false
	for ; i < len(l.src) && l.src[i] != '\n' && l.src[i] != '\r'; i++ {
		switch l.src[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				l.add(otherToken, "", i+1)
				return
			}
		}
	}
	l.add(otherToken, "", min(i, len(l.src)))
}

// expressionBegins reports whether a slash cannot be a division here.
func (l *lexer) expressionBegins() bool {
	if len(l.tokens) == 0 {
		return true
	}
	switch last := l.tokens[len(l.tokens)-1]; last.kind {
	case symbolToken:
		return last.text != "]" && (last.text != ")" || l.afterIf)
	case nameToken:
		return slices.Contains([]string{"return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do"}, last.text)
	}
	return false
}

func (l *lexer) symbol() {
	switch l.src[0] {
	case '(':
		last := len(l.tokens) - 1
		l.control = append(l.control, last >= 0 && isControl(l.tokens[last]))
	case ')':
		if n := len(l.control); n > 0 {
			l.afterIf, l.control = l.control[n-1], l.control[:n-1]
		}
	case '{':
		l.braceDepth++
	case '}':
		if n := len(l.templates); n > 0 && l.templates[n-1] == l.braceDepth {
			l.templates = l.templates[:n-1]
			l.template(false)
			return
		}
		l.braceDepth--
	}
	for _, s := range symbols {
		if strings.HasPrefix(l.src, s) {
			l.add(symbolToken, s, len(s))
			return
		}
	}
	l.add(symbolToken, l.src[:1], 1)
}

// isControl reports whether the code after the parentheses of a keyword runs on a condition.
func isControl(t token) bool {
	return t.kind == nameToken && slices.Contains([]string{"if", "while", "for", "switch", "with", "catch"}, t.text)
}
