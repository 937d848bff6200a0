package jq

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/declare"
)

// TestReferenceOfFunctions: what is said of each is true.
func TestReferenceOfFunctions(t *testing.T) {
	for _, f := range Functions() {
		name := f.name()
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
}

// TestReferenceOfVariables: each can be read.
func TestReferenceOfVariables(t *testing.T) {
	if len(Variables()) != len((&Env{}).values(needs{})) {
		t.Errorf("%d of %d variables have a value", len((&Env{}).values(needs{})), len(Variables()))
	}
	for _, v := range Variables() {
		var problems declare.Problems
		if Compile(&declare.Expr{Text: v.Name}, nil, &problems) == nil {
			t.Errorf("%s: %v", v.Name, problems)
		}
	}
}
