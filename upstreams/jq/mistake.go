package jq

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"sundry/metrics/words"
	"sundry/upstreams/declare"
)

// report adds what is wrong with a program that does not compile: with the line, the
// column and the text there, and what may have been meant.
func (d *Defs) report(e *declare.Expr, of string, err error, problems *declare.Problems) {
	at, what := -1, words.Name(err.Error())
	var meant words.Text
	if bad, ok := errors.AsType[*gojq.ParseError](err); ok {
		at, what = syntax(bad, e.Text)
	} else if function, ok := strings.CutPrefix(err.Error(), "function not defined: "); ok {
		name, arguments, _ := strings.Cut(function, "/")
		at, what, meant = placeOf(name, e.Text), declare.Say("function not defined: %s", function), d.meant(name, arguments)
	} else if name, ok := strings.CutPrefix(err.Error(), "variable not defined: "); ok {
		at, what, meant = placeOf(name, e.Text), declare.Say("variable not defined: %s", name), declare.Expected(name, variables())
	}
	line, where := e.At(at)
	problems.Add(line, "%sjq: %s%s%s", of, what, where, meant)
}

// syntax is where a program cannot be parsed, and why. One that ends too early is wrong behind what it has, not in the
// line that follows it.
func syntax(bad *gojq.ParseError, text string) (at int, what words.Text) {
	if bad.Error() == "unexpected EOF" {
		return len(strings.TrimRight(text, " \t\r\n")), declare.Say("the program ends too early; expected what follows, such as ), ], } or end")
	}
	at = min(max(bad.Offset-len(bad.Token), 0), len(text))
	if token, ok := strings.CutPrefix(bad.Error(), "unexpected token "); ok {
		return at, declare.Say("unexpected token %s", token)
	}
	return at, words.Name(bad.Error())
}

// placeOf is where a program has a name; -1: nowhere.
func placeOf(name, text string) int {
	at := regexp.MustCompile(`(^|[^\w$.])(` + regexp.QuoteMeta(name) + `)($|\W)`).FindStringSubmatchIndex(text)
	if at == nil {
		return -1
	}
	return at[4]
}

// meant suggests a function for the name and number of arguments of one that there is not.
func (d *Defs) meant(name, arguments string) words.Text {
	known := maps.Clone(builtins())
	if d != nil {
		for _, f := range d.list {
			known[f.Name] = true
		}
	}
	if known[name] {
		return declare.Say("; there is a function %s, but not with %s arguments, for example test(\"^a\") with one", name, arguments)
	}
	if near := declare.Suggestion(name, slices.Sorted(maps.Keys(known))); !near.IsZero() {
		return near
	}
	return declare.Say("; expected a function of jq, or one below defs:, for example defs: {%s: .title}", name)
}

// ofRegexps are the functions whose first argument is a regular expression.
var ofRegexps = []string{"test", "match", "capture", "scan", "split", "splits", "sub", "gsub"}

// checkRegexps reports those of a program that do not compile.
func checkRegexps(q *gojq.Query, e *declare.Expr, of string, problems *declare.Problems) {
	walk(q, func(node any) bool {
		f, ok := node.(*gojq.Func)
		if !ok || !slices.Contains(ofRegexps, f.Name) || len(f.Args) == 0 || f.Name == "split" && len(f.Args) == 1 {
			return true
		}
		text, literal := literalText(f.Args[0])
		if _, err := regexp.Compile(text); literal && err != nil {
			quoted := gojqString(text)
			line, where := e.At(strings.Index(e.Text, quoted))
			problems.Add(line, "%sjq: %s: %v%s; expected the syntax of RE2, for example %s(\"^[a-z]+$\")", of, f.Name, err, where, f.Name)
		}
		return true
	})
}

// literalText is a program that is a text without interpolation.
func literalText(q *gojq.Query) (text string, ok bool) {
	if q.Term == nil || q.Term.Str == nil || len(q.Term.Str.Queries) > 0 || len(q.Term.SuffixList) > 0 {
		return "", false
	}
	return q.Term.Str.Str, true
}

// gojqString is how a program most likely writes a text.
func gojqString(text string) string { return (&gojq.String{Str: text}).String() }
