package main

import (
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"sundry/upstreams/catalog"
)

// commandLine is what the words of an unfinished command line mean.
type commandLine struct {
	w      *process
	node   *kong.Node
	args   []string   // positional ones
	awaits *kong.Flag // whose value comes next; nil for none
	ended  bool       // by --: no flags follow
	dir    string     // of --catalog
	set    *catalog.Catalog
}

// newCommandLine reads the words before the one that is to be completed, as far as they can be
// understood.
func newCommandLine(w *process, parser *kong.Kong, words []string) (*commandLine, error) {
	l := &commandLine{w: w, node: parser.Model.Node, ended: slices.Contains(words, "--")}
	trace, err := kong.Trace(parser, words)
	if err != nil {
		return nil, err
	}
	if selected := trace.Selected(); selected != nil {
		l.node = selected
	}
	for _, p := range trace.Path {
		switch {
		case p.Positional != nil:
			l.args = append(l.args, textsOf(trace.Value(p))...)
		case p.Flag != nil && p.Flag.Name == "catalog":
			l.dir = trace.Value(p).String()
		}
	}
	if len(words) > 0 && !l.ended {
		l.awaits = l.valued(words[len(words)-1])
	}
	return l, nil
}

// valued is the flag that a word is whose value follows; nil for none.
func (l *commandLine) valued(word string) *kong.Flag {
	if f := l.flag(word); f != nil && !f.IsBool() && !strings.Contains(word, "=") {
		return f
	}
	return nil
}

// textsOf are those of an argument, which may be several.
func textsOf(v reflect.Value) []string {
	if all, ok := reflect.TypeAssert[[]string](v); ok {
		return all
	}
	return []string{v.String()}
}

// flag is the flag that a word begins with; nil for none.
func (l *commandLine) flag(word string) *kong.Flag {
	name, _, _ := strings.Cut(word, "=")
	for _, group := range l.node.AllFlags(true) {
		for _, f := range group {
			if name == "--"+f.Name || f.Short != 0 && name == "-"+string(f.Short) {
				return f
			}
		}
	}
	return nil
}

// candidates are what may stand in the place of the last word.
func (l *commandLine) candidates(last string) []candidate {
	switch flag := l.flag(last); {
	case l.awaits != nil:
		return l.values(l.awaits.Value, last)
	case flag != nil && strings.Contains(last, "="):
		return prefixed("--"+flag.Name+"=", l.values(flag.Value, last))
	case !l.ended && strings.HasPrefix(last, "-"):
		return flagsOf(l.node)
	case len(l.node.Children) > 0:
		return commands(l.node)
	case len(l.node.Positional) > 0:
		at := min(len(l.args), len(l.node.Positional)-1)
		if len(l.args) > at && !l.node.Positional[at].IsCumulative() {
			return nil
		}
		return l.values(l.node.Positional[at], last)
	}
	return nil
}

func commands(n *kong.Node) []candidate {
	var out []candidate
	for _, child := range n.Children {
		out = append(out, candidate{child.Name, child.Help})
	}
	return out
}

func flagsOf(n *kong.Node) []candidate {
	var out []candidate
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			out = append(out, candidate{"--" + f.Name, f.Help})
		}
	}
	return out
}

// values are what a flag or an argument may be: by its enum, or by its tag complete,
// which names a set or lists the values.
func (l *commandLine) values(v *kong.Value, last string) []candidate {
	switch of := v.Tag.Get("complete"); of {
	case "commands":
		return commands(l.node.Parent)
	case "endpoints":
		return l.endpoints()
	case "callable":
		return l.callable()
	case "addresses":
		return prefixed("/api/", l.callable())
	case "subjects": // of the doctor: those or, of a single endpoint, parameters
		if len(l.args) == 1 {
			return append(l.callable(), l.parameters(last)...)
		}
		return l.callable()
	case "parameters":
		return l.parameters(last)
	case "":
		return asCandidates(v.EnumSlice())
	default:
		return asCandidates(strings.Split(of, ","))
	}
}

func asCandidates(values []string) []candidate {
	out := make([]candidate, len(values))
	for i, value := range values {
		out[i].word = value
	}
	return out
}

func prefixed(prefix string, candidates []candidate) []candidate {
	for i := range candidates {
		candidates[i].word = prefix + candidates[i].word
	}
	return candidates
}

// endpoints are those of the catalog that are not there yet; nil where it cannot be loaded.
func (l *commandLine) endpoints() (out []candidate) {
	if set := l.load(); set != nil {
		for _, e := range set.Endpoints {
			out = append(out, candidate{e.Name, e.EN})
		}
	}
	return l.withoutArgs(out)
}

// callable are those and its APIs.
func (l *commandLine) callable() []candidate {
	out := l.endpoints()
	if set := l.load(); set != nil {
		for _, a := range set.APIs {
			out = append(out, candidate{a.Name, a.EN})
		}
	}
	return l.withoutArgs(out)
}

func (l *commandLine) withoutArgs(of []candidate) []candidate {
	return slices.DeleteFunc(of, func(c candidate) bool { return slices.Contains(l.args, c.word) })
}

// parameters are those of the first argument's endpoint, or the values of the one
// that the last word names.
func (l *commandLine) parameters(last string) []candidate {
	set := l.load()
	if set == nil || len(l.args) == 0 {
		return nil
	}
	e, ok := set.Get(l.args[0])
	if !ok {
		return nil
	}
	var out []candidate
	for _, p := range e.Params {
		switch {
		case p.Derived():
		case strings.HasPrefix(last, p.Name+"="):
			return prefixed(p.Name+"=", asCandidates(valuesOf(e, p)))
		default:
			out = append(out, candidate{p.Name + "=", p.Allowed.EN()})
		}
	}
	return out
}

// valuesOf are the values of a parameter that has a list of them, or its example.
func valuesOf(e *catalog.Endpoint, p *catalog.Param) []string {
	switch {
	case p.Role == "form":
		return e.FormNames()
	case len(p.Spec.Enum) > 0:
		return p.Spec.Enum
	}
	return []string{p.Example}
}

// load compiles the catalog once, without a network; nil for one with mistakes.
func (l *commandLine) load() *catalog.Catalog {
	if l.set == nil {
		loaded, err := (&flags{Catalog: l.dir, Replay: true}).load(l.w, nil)
		loaded.close()
		if err == nil {
			l.set = loaded.set
		}
	}
	return l.set
}
