package jq

import (
	"net/http"
	"strings"
	"time"
)

// Env has the values of Variables. A nil map is an empty object.
type Env struct {
	Params map[string]any
	Now    time.Time
	Vars   map[string]any
	Status int
	// Header of the reply.
	Header  http.Header
	Secrets map[string]any
	// Cause is the reason of the sources before; "" means that none is known.
	Cause string
	// English: what is made is for those who read English, else Chinese.
	English bool
}

// Given is a variable that programs may read.
type Given struct{ Name, About string }

// Variables are those of every program, in the order of their values.
func Variables() []Given {
	return []Given{
		{"$params", "the input of the call, by the names of its parameters"},
		{"$now", "the time of the call, in Unix seconds"},
		{"$vars", "results of steps and variables, by name"},
		{"$status", "the status of the reply"},
		{"$location", "the target of a redirect that is not followed, or an empty text"},
		{"$cookies", "the cookies that the reply sets, by name"},
		{"$headers", "the headers of the reply, by name in lower case"},
		{"$secrets", "keys and options, by name; only until the reply is received"},
		{"$cause", "why the sources before could not answer, in the word that the last of them gives, such as refused; elsewhere, and if none gives one, an empty text"},
		{"$lang", "in text forms, the language of labels: zh, or en for callers who read English; elsewhere zh"},
	}
}

// variables are their names.
func variables() []string {
	var names []string
	for _, v := range Variables() {
		names = append(names, v.Name)
	}
	return names
}

// needs says which variables a program reads that take work to make.
type needs struct{ cookies, headers, language bool }

// needsOf are those of a program and the defs that it calls.
func needsOf(own *facts, called []*def) needs {
	n := needs{own.calls["$cookies"], own.calls["$headers"], own.calls["$lang"]}
	for _, f := range called {
		n.cookies = n.cookies || f.facts.calls["$cookies"]
		n.headers = n.headers || f.facts.calls["$headers"]
		n.language = n.language || f.facts.calls["$lang"]
	}
	return n
}

// values are those of all variables; what the program does not need is empty.
func (e *Env) values(n needs) []any {
	empty := any(map[string]any(nil))
	values := []any{orEmpty(e.Params), int(e.Now.Unix()), orEmpty(e.Vars), e.Status, e.location(), empty, empty, orEmpty(e.Secrets), e.Cause, e.language()}
	if n.cookies {
		values[5] = cookies(e.Header)
	}
	if n.headers {
		values[6] = headers(e.Header)
	}
	return values
}

func (e *Env) language() string {
	if e.English {
		return "en"
	}
	return "zh"
}

func (e *Env) location() string {
	if e.Header == nil {
		return ""
	}
	return e.Header.Get("Location")
}

func orEmpty(m map[string]any) any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// cookies are the cookies that a reply sets, by name.
func cookies(h http.Header) map[string]any {
	set := map[string]any{}
	for _, line := range h["Set-Cookie"] {
		if c, err := http.ParseSetCookie(line); err == nil {
			set[c.Name] = c.Value
		}
	}
	return set
}

// headers are those of a reply by their names in lower case; of several values the
// first.
func headers(h http.Header) map[string]any {
	all := make(map[string]any, len(h))
	for name, values := range h {
		if len(values) > 0 {
			all[strings.ToLower(name)] = values[0]
		}
	}
	return all
}
