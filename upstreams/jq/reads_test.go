package jq

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"sundry/upstreams/declare"
)

// TestReads: the names of fields that programs read, in every spelling, and none of
// those that they write.
func TestReads(t *testing.T) {
	for text, want := range map[string]string{
		".":                            "",
		".data.title":                  "data title",
		`.["a b"] | ."c"`:              "a b c",
		".list[0].url, .list[1:].page": "list page url",
		"{title, written: .name}":      "name title",
		`{"quoted", "out": 1}`:         "quoted",
		". as {a: $x, $b} | $x":        "a b",
		`has("h") or (.x | has("y"))`:  "h x y",
		`getpath(["p", "q"])`:          "p q",
		`.[("m", "n")]`:                "m n",
		`.a // .b?`:                    "a b",
		`if .c then .d elif .e then .f else .g end`:   "c d e f g",
		`reduce .l[] as $i (0; . + $i.n)`:             "l n",
		`try .t catch .u`:                             "t u",
		`"text \(.s)" | test("pattern")`:              "s",
		`def f(g): g | .i; f(.o)`:                     "i o",
		`$params.id, $headers.date, $vars.step.token`: "step token",
		`select(.kind == "video").v`:                  "kind v",
		`inner(.w)`:                                   "deep w",
	} {
		var problems declare.Problems
		defs := CompileDefs(declare.Defs{
			{Name: declare.Text{Value: "deeper"}, Program: declare.Expr{Text: ".deep"}},
			{Name: declare.Text{Value: "inner(x)"}, Program: declare.Expr{Text: "x | deeper"}},
			{Name: declare.Text{Value: "other"}, Program: declare.Expr{Text: ".never"}},
		}, &problems)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		reads := defs.Reads(&declare.Expr{Text: text}, nil)
		if got := strings.Join(slices.Sorted(maps.Keys(reads)), " "); got != want {
			t.Errorf("%s reads %q, want %q", text, got, want)
		}
	}
}
