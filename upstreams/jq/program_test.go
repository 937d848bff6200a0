package jq

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"sundry/upstreams/declare"
)

func TestPrograms(t *testing.T) {
	run := func(src string, input any) (any, error) {
		var problems declare.Problems
		q := Compile(&declare.Expr{Text: src, Line: 1}, nil, &problems)
		if q == nil {
			return nil, fmt.Errorf("%v", problems)
		}
		return q.One(t.Context(), input, &Env{Params: map[string]any{"n": 3}, Now: time.Unix(5, 0), Status: 200})
	}
	for src, want := range map[string]any{
		".a": "x", "$params.n + 1": 4, "$now": 5, "$status": 200, "$vars | length": 0,
		`"http://a/b" | https`: "https://a/b", `"//a/b" | https`: "https://a/b", `null | https`: nil, `"<a href=\"x\">a &amp; b</a>\n  c &#39;<b>d</b>&#39; <a hr" | html_text`: "a & b c 'd'", `3 | html_text`: 3, `"1 < 2" | html_text`: "1", `"https://a" | https`: "https://a",
	} {
		if got, err := run(src, map[string]any{"a": "x"}); err != nil || got != want {
			t.Errorf("%s: %v %v", src, got, err)
		}
	}
	for _, src := range []string{"empty", "1, 2", `error("x")`, ".a.b.c", "env.HOME", "input", "def f: f; f"} {
		if got, err := run(src, map[string]any{"a": "x"}); err == nil && got != nil {
			t.Errorf("%s: %v", src, got)
		}
	}
}

// Errors are remembered for long: they keep nothing of the document.
func TestErrorKeepsNoValue(t *testing.T) {
	for _, src := range []string{".a.b", ".a + 1", `error("x")`, `error({a: 1})`, `.a | md5 | .b`, `{} | md5`} {
		q := compileText(src, nil)
		err := q.Each(t.Context(), map[string]any{"a": []any{"text"}}, &Env{}, func(any) bool { return true })
		if err == nil || errors.Unwrap(err) != nil {
			t.Errorf("%s: %#v", src, err)
		}
	}
}

// That a program ran out of time is still known of its error.
func TestErrorOfTheContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	err := compileText("last(range(1e12))", nil).Each(ctx, nil, &Env{}, func(any) bool { return true })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
