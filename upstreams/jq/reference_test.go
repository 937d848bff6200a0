package jq

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/declare"
)

// TestReferenceOfFunctions: every function is described, and what is said of it is
// true.
func TestReferenceOfFunctions(t *testing.T) {
	var want []string
	for name := range functionsOfArguments() {
		want = append(want, name)
	}
	for name := range plainFunctions() {
		want = append(want, name)
	}
	for name := range textFunctions() {
		want = append(want, name)
	}
	var got []string
	for _, f := range Functions() {
		name, _, _ := strings.Cut(f.Call, "(")
		got = append(got, name)
		if !strings.Contains(f.Example, name) {
			t.Errorf("%s: its example does not call it", name)
		}
		var problems declare.Problems
		q := Compile(&declare.Expr{Text: f.Example}, nil, &problems)
		if q == nil {
			t.Errorf("%s: %v", name, problems)
			continue
		}
		if f.Result == "" {
			continue
		}
		v, err := q.One(t.Context(), nil, &Env{Now: time.Unix(1_795_219_200, 0)})
		b, _ := json.Marshal(v)
		if text := strings.ReplaceAll(string(b), `\u0026`, "&"); err != nil || text != f.Result {
			t.Errorf("%s: %s %v, want %s", f.Example, text, err, f.Result)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("described: %v\nthere are: %v", got, want)
	}
}

// TestReferenceOfVariables: each can be read.
func TestReferenceOfVariables(t *testing.T) {
	if len(Variables()) != len((&Env{}).values(needs{})) {
		t.Errorf("%d of %d variables are described", len(Variables()), len((&Env{}).values(needs{})))
	}
	for _, v := range Variables() {
		var problems declare.Problems
		if Compile(&declare.Expr{Text: v.Name}, nil, &problems) == nil {
			t.Errorf("%s: %v", v.Name, problems)
		}
	}
}
