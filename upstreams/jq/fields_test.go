package jq

import (
	"strings"
	"testing"

	"sundry/upstreams/declare"
)

// written shows fields as in {a b{c} d[{e}]}.
func written(f *Fields) string {
	var b strings.Builder
	if names := f.Names(); len(names) > 0 {
		b.WriteByte('{')
		for i, name := range names {
			if i > 0 {
				b.WriteByte(' ')
			}
			of, _ := f.Field(name)
			b.WriteString(name + written(of))
		}
		b.WriteByte('}')
	}
	if f.Items() != nil {
		b.WriteString("[" + written(f.Items()) + "]")
	}
	return b.String()
}

func fieldsOf(program string, input, vars *Fields) *Fields {
	return FieldsOf(&declare.Expr{Text: program}, nil, input, vars)
}

func TestFieldsOfAProgram(t *testing.T) {
	input := fieldsOf(`{z: {y, x}, list: [{b, a}]}`, nil, nil)
	vars := fieldsOf(`{step: {q, p}}`, nil, nil)
	for program, want := range map[string]string{
		".":                                    "{z{y x} list[{b a}]}",
		".list":                                "[{b a}]",
		".list[0]":                             "{b a}",
		".list[1:]":                            "[{b a}]",
		`.["z"], ."z"`:                         "{y x}",
		".list[]":                              "{b a}",
		"{b: 1, a: 2}":                         "{b a}",
		`{"b c": 1, $__loc__, ("d"): 1, a: 2}`: "{b c __loc__ a}",
		"{list, z}":                            "{list[{b a}] z{y x}}",
		".z + {w: 1}":                          "{y x w}",
		"{x: 1, v: 2} + .z":                    "{y x v}",
		"if .a then {d} elif .b then {c} else {d, e} end": "{d e c}",
		"if .list == [] then error else . end":            "{z{y x} list[{b a}]}",
		"[.list[] | select(.a) | {n: .b, z: .}]":          "[{n z{b a}}]",
		".list | map({a, b}) | sort_by(.a) | .[:3]":       "[{a b}]",
		".list | first":                              "{b a}",
		"[.list[] | {b}] | add | {o: .}":             "{o{b}}",
		".z as $o | .list as [$i] | {$o, i: $i}":     "{o{y x} i{b a}}",
		". as {z: $o, $list} | {$list, $o}":          "{list[{b a}] o{y x}}",
		"def f(g): {v: g}; f(.z)":                    "{v{y x}}",
		"def f($g): {v: $g, w: g}; f(.z)":            "{v{y x} w{y x}}",
		"reduce .list[] as $x ({n: 0}; .last = $x)":  "{n last{b a}}",
		"[foreach .list[] as $x (null; $x; {e: .})]": "[{e{b a}}]",
		".z |= {x}":         "{z{x} list[{b a}]}",
		".n = 1 | .z.y = 2": "{z{y x} list[{b a}] n}",
		"$vars.step":        "{q p}",
		"$vars.step as $found | {s: $found, at: $found.q}": "{s{q p} at}",
		"try {t: .z} catch {never: 1}":                     "{t{y x}}",
		"null // {b} // {a}":                               "{b a}",
		"label $out | {b} | ., break $out":                 "{b}",
		"to_entries":                                       "",
		"1 + 2":                                            "",
		"{":                                                "",
	} {
		got := written(fieldsOf(program, input, vars))
		if got != want {
			t.Errorf("%s: %s, want %s", program, got, want)
		}
	}
}

func TestJoinKeepsTheFirstOrder(t *testing.T) {
	for _, r := range [][3]string{
		{"{a, b, c}", "{a, x, b, y}", "{a x b y c}"},
		{"{b, c}", "{a, b}", "{a b c}"},
		{"{a}", "{b}", "{a b}"},
		{"{a, b}", "{b, a}", "{a b}"},
		{"{a: {p}}", "{a: {o, p}}", "{a{o p}}"},
		{"[{b}]", "[{a}]", "[{b a}]"},
		{"null", "{a}", "{a}"},
		{"{a}", "null", "{a}"},
	} {
		if got := written(fieldsOf(r[0], nil, nil).Join(fieldsOf(r[1], nil, nil))); got != r[2] {
			t.Errorf("%s and %s: %s, want %s", r[0], r[1], got, r[2])
		}
	}
}

// A function that calls itself is followed a little way.
func TestFieldsOfARecursion(t *testing.T) {
	if got := written(fieldsOf("def f: {v: f, w: f}; f", nil, nil)); !strings.HasPrefix(got, "{v{v{v") || len(got) > 1<<16 {
		t.Errorf("%d bytes: %.40s", len(got), got)
	}
}
