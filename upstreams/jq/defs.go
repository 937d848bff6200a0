package jq

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/itchyny/gojq"

	"sundry/upstreams/declare"
)

// Defs are the named programs of a catalog file (defs:), which all its other
// programs can call as functions. A nil *Defs has none. They are not safe for
// concurrent use: compiling a program notes which of them it calls.
type Defs struct {
	list   []*def
	parsed map[string]*parsed // the programs that were asked for, by their texts
}

// def is a named program.
type def struct {
	*gojq.FuncDef
	line   int    // of its name
	text   string // of its program
	needs  []*def // the earlier ones that it calls, directly or not
	called bool   // or shared
	facts  facts  // of the body alone: it is looked at once, and not for each program that calls it
}

// CompileDefs compiles named programs, each of which may call those before it.
// The program of one that has a mistake is reported once, not where it is called.
func CompileDefs(specs declare.Defs, problems *declare.Problems) *Defs {
	d := &Defs{parsed: map[string]*parsed{}}
	if len(specs) == 0 {
		return d
	}
	builtin := builtins()
	for i := range specs {
		spec := &specs[i]
		f := signatureOf(spec.Name.Value)
		switch {
		case f == nil:
			problems.Add(spec.Name.Line, "defs: %q: expected a name, with its parameters if it has any, for example carrier or events(list; $max)", spec.Name.Value)
		case builtin[f.Name]:
			problems.Add(spec.Name.Line, "defs: %s: there is a built-in function of this name; choose another", f.Name)
		case d.has(f.Name):
			problems.Add(spec.Name.Line, "defs: %s: declared twice", f.Name)
		default:
			d.add(f, spec, problems)
		}
	}
	return d
}

// nameAndParams are what a def is declared by, as in carrier or events(list; $max).
var nameAndParams = regexp.MustCompile(`^[a-z][a-z0-9_]*(\(\s*\$?[a-z][a-z0-9_]*(\s*;\s*\$?[a-z][a-z0-9_]*)*\s*\))?$`)

// signatureOf returns the function without its program; nil for a name that cannot be
// declared, such as if.
func signatureOf(declared string) *gojq.FuncDef {
	if !nameAndParams.MatchString(declared) {
		return nil
	}
	q, err := gojq.Parse("def " + declared + ": .; .")
	if err != nil || len(q.FuncDefs) != 1 {
		return nil
	}
	return q.FuncDefs[0]
}

// builtins are the names of all functions that every program can call.
var builtins = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	q, _ := gojq.Parse("builtins[]") // a program without mistakes
	code, _ := gojq.Compile(q, slices.Collect(maps.Values(functions()))...)
	for iter := code.Run(nil); ; {
		v, more := iter.Next()
		if !more {
			return names
		}
		text, _ := v.(string)
		name, _, _ := strings.Cut(text, "/")
		names[name] = true
	}
})

func (d *Defs) has(name string) bool {
	return slices.ContainsFunc(d.list, func(f *def) bool { return f.Name == name })
}

// add compiles one. Its program is left out if it has a mistake.
func (d *Defs) add(f *gojq.FuncDef, spec *declare.Def, problems *declare.Problems) {
	added := &def{FuncDef: f, line: spec.Name.Line, text: spec.Program.Text, called: spec.Shared}
	none := f.Body
	of := "defs: " + f.Name + ": "
	if body, err := gojq.Parse(spec.Program.Text); err != nil {
		d.report(&spec.Program, of, err, problems)
	} else {
		checkRegexps(body, &spec.Program, of, problems)
		added.facts, f.Body = factsIn(body), body
		added.needs = d.calledBy(&added.facts)
		if _, err := compile(none, &facts{}, append(slices.Clip(added.needs), added)); err != nil {
			d.report(&spec.Program, of, err, problems)
			added.facts, f.Body = facts{}, none
		}
	}
	d.list = append(d.list, added)
}

// calledBy are those that a program of these facts calls, directly or not, in their order.
func (d *Defs) calledBy(program *facts) []*def {
	if d == nil {
		return nil
	}
	reached := map[*def]bool{}
	for _, f := range d.list {
		if !program.calls[signature(f.Name, len(f.Args))] {
			continue
		}
		reached[f] = true
		for _, other := range f.needs {
			reached[other] = true
		}
	}
	var out []*def
	for _, f := range d.list {
		if reached[f] {
			out = append(out, f)
		}
	}
	return out
}

// signature tells functions of the same name apart by how many parameters they have.
func signature(name string, params int) string { return name + strings.Repeat("/", params) }

// textsOf returns the text of a program and those of the defs that it calls,
// directly or not.
func (d *Defs) textsOf(e *declare.Expr) []string {
	texts := []string{e.Text}
	_, called := d.factsOf(e)
	for _, f := range called {
		texts = append(texts, f.text)
	}
	return texts
}

// Text is the text of a program with the defs that it calls, for comparison: it is
// another whenever the program could do something else. It is "" for nil.
func (d *Defs) Text(e *declare.Expr) string {
	if e == nil {
		return ""
	}
	return strings.Join(d.textsOf(e), "\n")
}

// mention notes as called the defs whose names are in a text that does not parse, so
// that a syntax error is not reported as unused defs, too.
func (d *Defs) mention(text string) {
	if d == nil {
		return
	}
	words := word.FindAllString(text, -1)
	for _, f := range d.list {
		if slices.Contains(words, f.Name) {
			f.note()
		}
	}
}

// note notes that a def is called, and so are those that it calls.
func (f *def) note() {
	f.called = true
	for _, other := range f.needs {
		other.called = true
	}
}

// exampleCall is how a program may call it: a parameter is a program, or a value where it
// has a $.
func (f *def) exampleCall() string {
	if len(f.Args) == 0 {
		return f.Name
	}
	args := make([]string, len(f.Args))
	for i, name := range f.Args {
		if args[i] = ".id"; strings.HasPrefix(name, "$") {
			args[i] = "1"
		}
	}
	return f.Name + "(" + strings.Join(args, "; ") + ")"
}

// Unused reports the defs that no program calls. Call it when all are compiled.
func (d *Defs) Unused(problems *declare.Problems) {
	if d == nil {
		return
	}
	for _, f := range d.list {
		if !f.called {
			problems.Add(f.line, "defs: %s: no program of this file calls it; expected a call, for example map: .data | %s", f.Name, f.exampleCall())
		}
	}
}
