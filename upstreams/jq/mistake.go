package jq

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"sundry/upstreams/declare"
)

// report adds what is wrong with a program that does not compile: with the line, the
// column and the text there, and what may have been meant.
func (d *Defs) report(e *declare.Expr, of string, err error, problems *declare.Problems) {
	at, meant := -1, ""
	if bad, ok := errors.AsType[*gojq.ParseError](err); ok {
		at = min(max(bad.Offset-len(bad.Token), 0), len(e.Text))
	} else if name, ok := strings.CutPrefix(err.Error(), "function not defined: "); ok {
		name, arguments, _ := strings.Cut(name, "/")
		at, meant = placeOf(name, e.Text), d.meant(name, arguments)
	} else if name, ok := strings.CutPrefix(err.Error(), "variable not defined: "); ok {
		at, meant = placeOf(name, e.Text), declare.Expected(name, variables())
	}
	line, where := e.At(at)
	problems.Add(line, "%sjq: %v%s%s", of, err, where, meant)
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
func (d *Defs) meant(name, arguments string) string {
	known := maps.Clone(builtins())
	if d != nil {
		for _, f := range d.list {
			known[f.Name] = true
		}
	}
	if known[name] {
		return fmt.Sprintf("; there is a function %s, but not with %s arguments, for example test(\"^a\") with one", name, arguments)
	}
	if near := declare.Nearest(name, slices.Sorted(maps.Keys(known))); near != "" {
		return "; did you mean " + near + "?"
	}
	return "; expected a function of jq, or one below defs:, for example defs: {" + name + ": .title}"
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
