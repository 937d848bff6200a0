package main

import (
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// commandLine is what the words of an unfinished command line mean.
type commandLine struct {
	node   *kong.Node
	args   []string   // positional ones
	awaits *kong.Flag // whose value comes next; nil for none
	ended  bool       // by --: no flags follow
}

// newCommandLine reads the words before the one that is to be completed, as far as they can be
// understood.
func newCommandLine(parser *kong.Kong, words []string) (*commandLine, error) {
	l := &commandLine{node: parser.Model.Node, ended: slices.Contains(words, "--")}
	trace, err := kong.Trace(parser, words)
	if err != nil {
		return nil, err
	}
	if selected := trace.Selected(); selected != nil {
		l.node = selected
	}
	for _, p := range trace.Path {
		if p.Positional != nil {
			l.args = append(l.args, textsOf(trace.Value(p))...)
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
		return l.values(l.awaits.Value)
	case flag != nil && strings.Contains(last, "="):
		return prefixed("--"+flag.Name+"=", l.values(flag.Value))
	case !l.ended && strings.HasPrefix(last, "-"):
		return flagsOf(l.node)
	case len(l.node.Children) > 0:
		return commands(l.node)
	case len(l.node.Positional) > 0:
		at := min(len(l.args), len(l.node.Positional)-1)
		if len(l.args) > at && !l.node.Positional[at].IsCumulative() {
			return nil
		}
		return l.values(l.node.Positional[at])
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
// which lists the values, or is commands.
func (l *commandLine) values(v *kong.Value) []candidate {
	switch of := v.Tag.Get("complete"); of {
	case "commands":
		return commands(l.node.Parent)
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
