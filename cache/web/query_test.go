package web

import (
	"strings"
	"testing"
)

func TestQueryWithoutWhatMakesNoOtherResponse(t *testing.T) {
	q := Query{Dropped: []string{"utm_*", "gclid"}, Sorted: true}
	for raw, want := range map[string]string{
		"":                             "",
		"b=2&a=1":                      "a=1&b=2",
		"b=2&a=2&a=1":                  "a=2&a=1&b=2",
		"utm_source=x&a=1&gclid=&utm_": "a=1",
		"a=&b&=1":                      "=1&a=&b",
		"utm=1&gclids=2":               "gclids=2&utm=1",
		"utm_source=x":                 "",
	} {
		if got := q.Apply(raw); got != want {
			t.Errorf("%q is %q, want %q", raw, got, want)
		}
	}
	if got := (&Query{}).Apply("b=2&a=1&&"); got != "b=2&a=1&&" {
		t.Errorf("%q without rules", got)
	}
	if CheckDropped("utm_[") == nil {
		t.Error("a pattern that is none")
	}
}

// TestQueriesOfManyParameters are used unchanged.
func TestQueriesOfManyParameters(t *testing.T) {
	q := Query{Sorted: true}
	for n, want := range map[int]string{maxParams: "a&b" + strings.Repeat("&b", maxParams-2), maxParams + 1: strings.Repeat("b&", maxParams) + "a"} {
		if got := q.Apply(strings.Repeat("b&", n-1) + "a"); got != want {
			t.Errorf("%d parameters: %.20q…", n, got)
		}
	}
}
