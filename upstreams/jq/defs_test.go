package jq

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams/declare"
)

// defsOf compiles the defs of a catalog file whose first line is that of the
// first of them.
func defsOf(t *testing.T, text string, problems *declare.Problems) *Defs {
	t.Helper()
	var specs declare.Defs
	if err := yaml.Load([]byte(text), &specs); err != nil {
		t.Fatal(err)
	}
	return CompileDefs(specs, problems)
}

func TestDefsAreCalledAsFunctions(t *testing.T) {
	var problems declare.Problems
	defs := defsOf(t, `
double: . * 2
quadruple: double | double
between(low; $high): . >= low and . <= $high
param: $params.n
each(f): '[.[] | f]'
`, &problems)
	for program, want := range map[string]string{
		"3 | quadruple":                          "12",
		"3 | between(1; 5)":                      "true",
		"param | double":                         "14",
		"[1, 2] | each(double)":                  "[2 4]",
		`"\(3 | double)"`:                        "6",
		"def double: 0; 3 | double, quadruple":   "[0 12]",
		"def own: double; 3 | own":               "6",
		"if 3 | between(0; 1) then 1 else 2 end": "2",
		"{double: 1} | .double":                  "1",
	} {
		p := Compile(&declare.Expr{Text: program, Line: 1}, defs, &problems)
		if p == nil {
			t.Fatalf("%s: %v", program, problems)
		}
		var out []any
		err := p.Each(t.Context(), nil, &Env{Params: map[string]any{"n": 7}}, func(v any) bool { out = append(out, v); return true })
		got := fmt.Sprint(out)
		if len(out) == 1 {
			got = fmt.Sprint(out[0])
		}
		if err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", program, got, err, want)
		}
	}
	if defs.Unused(&problems); len(problems) > 0 {
		t.Error(problems)
	}
}

// A mistake is reported where it is, once, whoever calls the def.
func TestMistakesOfDefs(t *testing.T) {
	for _, r := range []struct{ text, want string }{
		{"a: .x |", `1: defs: a: jq: the program ends too early; expected what follows, such as ), ], } or end, at column 5 of ".x |"`},
		{"a: |\n  .x\n  | {b: .y\n\nb: .", `3: defs: a: jq: the program ends too early; expected what follows, such as ), ], } or end, at column 9 of "| {b: .y"`},
		{"a: |\n  .x\n  | (\n  | .y", "4: defs: a: jq: unexpected token \"|\""},
		{"b: .\na: |\n  .x\n  | $nope", "4: defs: a: jq: variable not defined: $nope"},
		{"a: b\nb: .", "1: defs: a: jq: function not defined: b/0"},
		{"a: .\na(x): x", "2: defs: a: declared twice"},
		{"b: .\ntrail: .", "2: defs: trail: there is a built-in function of this name; choose another"},
		{"map: .", "1: defs: map: there is a built-in function of this name"},
		{"wbi_sign: .", "1: defs: wbi_sign: there is a built-in function of this name"},
		{"if: .", `1: defs: "if": expected a name, with its parameters if it has any, for example`},
		{"A: .", `1: defs: "A": expected a name`},
		{"a(x; y: .", `1: defs: "a(x; y": expected a name`},
		{"'a: .; def b': .", `1: defs: "a: .; def b": expected a name`},
	} {
		var problems declare.Problems
		defs := defsOf(t, r.text, &problems)
		Compile(&declare.Expr{Text: `a, "a(x)"`, Line: 9}, defs, &problems)
		var got []string
		for _, p := range problems {
			if p.Line != 9 {
				got = append(got, fmt.Sprintf("%d: %s", p.Line, p.Msg))
			}
		}
		if len(got) != 1 || !strings.HasPrefix(got[0], r.want) {
			t.Errorf("%s:\n%v, want\n%s", r.text, got, r.want)
		}
		if strings.Contains(r.want, ": a: jq:") && len(problems) != 1 {
			t.Errorf("%s: its caller is blamed as well: %v", r.text, problems)
		}
	}
}

func TestDefsThatNothingCalls(t *testing.T) {
	const text = "a: .\nb: a\nc: b\nd(f; $n): f"
	for program, want := range map[string]string{
		".":            "[{1 defs: a: no program of this file calls it; expected a call, for example map: .data | a} {2 defs: b: no program of this file calls it; expected a call, for example map: .data | b} {3 defs: c: no program of this file calls it; expected a call, for example map: .data | c} {4 defs: d: no program of this file calls it; expected a call, for example map: .data | d(.id; 1)}]",
		"b | d(c; 1)":  "[]",
		"c":            "[{4 defs: d: no program of this file calls it; expected a call, for example map: .data | d(.id; 1)}]",
		".c, d(.a; 1)": "[{1 defs: a: no program of this file calls it; expected a call, for example map: .data | a} {2 defs: b: no program of this file calls it; expected a call, for example map: .data | b} {3 defs: c: no program of this file calls it; expected a call, for example map: .data | c}]",
		"c | d( |":     "[{5 jq: unexpected token \"|\", at column 8 of \"c | d( |\"}]",
	} {
		var problems declare.Problems
		defs := defsOf(t, text, &problems)
		Compile(&declare.Expr{Text: program, Line: 5}, defs, &problems)
		defs.Unused(&problems)
		if got := fmt.Sprint(problems); got != want {
			t.Errorf("%s: %s, want %s", program, got, want)
		}
	}
}

// The text of a program changes with that of the defs that it calls, and no
// other.
func TestTextOfAProgram(t *testing.T) {
	texts := func(text string) []string {
		var problems declare.Problems
		defs := defsOf(t, text, &problems)
		return []string{defs.Text(&declare.Expr{Text: ".a"}), defs.Text(&declare.Expr{Text: "outer"}), defs.Text(nil)}
	}
	one, two := texts("inner: 1\nouter: inner"), texts("inner: 2\nouter: inner")
	if one[0] != two[0] || one[1] == two[1] || one[2] != "" || slices.Contains(one, "inner") {
		t.Errorf("%q and %q", one, two)
	}
}

// TestAProgramIsCompiledOnce: the sources of an endpoint often have the same, and each chain has those of others again.
func TestAProgramIsCompiledOnce(t *testing.T) {
	var problems declare.Problems
	defs := CompileDefs(declare.Defs{{Name: declare.Text{Value: "title"}, Program: declare.Expr{Text: ".a"}}}, &problems)
	program := func(text string, line int) *Program {
		return Compile(&declare.Expr{Text: text, Line: line}, defs, &problems)
	}
	if one := program("splits(\"a\")", 1); one == nil || program("splits(\"a\")", 2) != one || program(".b", 3) == one {
		t.Errorf("the same text is another program: %v", problems)
	}
	program("nothing", 4)
	program("nothing", 5)
	if len(problems) != 2 || problems[1].Line != 5 {
		t.Errorf("a mistake is said of each place: %v", problems)
	}
}
