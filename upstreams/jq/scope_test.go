package jq

import (
	"fmt"
	"slices"
	"testing"

	"sundry/upstreams/declare"
)

// TestMembers: what a program reads of what it was given, and not of what it binds.
func TestMembers(t *testing.T) {
	for program, want := range map[string]string{
		"$params.id + $vars.token":                "[{$params id} {$vars token}]",
		`$params["id"], $vars | .x`:               "[{$params id} {$vars }]",
		"{$params}":                               "[{$params }]",
		"$vars.link.id, $vars.link?":              "[{$vars link}]",
		"$vars[$params.key]":                      "[{$params key} {$vars }]",
		". as $vars | $vars.x":                    "[]",
		"def f: $secrets.key; f":                  "[{$secrets key}]",
		`"\($params.id)"`:                         "[{$params id}]",
		".params.id, $now, {params: 1} | .$__loc": "[]",
	} {
		own, _ := (*Defs)(nil).Members(&declare.Expr{Text: program})
		if got := fmt.Sprint(own); got != want {
			t.Errorf("%s: %s, want %s", program, got, want)
		}
	}
}

// TestWhatIsNeverRead, and what a program that two sources share reads of one of them.
func TestWhatIsNeverRead(t *testing.T) {
	var problems declare.Problems
	uses := &Uses{}
	for _, name := range []string{"a", "b"} {
		scope := NewScope([]string{"id"}, nil, nil)
		scope.Uses = uses
		scope.AddCredential("key", 1)
		uses.Declare("secret", "key", 1)
		scope.Add(name, 2)
		uses.Declare("step", name, 2)
		scope.Check(&declare.Expr{Text: "$vars.a // $vars.b // $vars.c", Line: 3}, Answering, &problems)
	}
	uses.Missing(&problems)
	uses.Unread(&problems)
	want := []string{"3: jq: $vars.c: no step and no variable has this name; expected one of a, b",
		"1: secret key: nothing reads it; expected {key} in a template or $secrets.key in a program, for example headers: {Authorization: \"Bearer {key}\"}"}
	var got []string
	for _, p := range problems {
		got = append(got, fmt.Sprintf("%d: %s", p.Line, p.Msg))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTextsThatAreNoPlaceholders but look like them; JSON and templates of others do not.
func TestTextsThatAreNoPlaceholders(t *testing.T) {
	for text, wrong := range map[string]bool{
		"/a/{id}": false, "{id}{id}": false, `{"a": {"b": 1}}`: false, "a{2,3}": false, "$": false, "{}": false, "price: $5 {id}": false,
		"{{id}}": true, "${id}": true, "/a/{id": true, "{id/b}": true, "{ id }": true, "{Id}": true, "{page-no}": true,
	} {
		var problems declare.Problems
		CompileTemplate(declare.Text{Value: text, Line: 1}, NewScope([]string{"id"}, nil, nil), &problems)
		if (len(problems) > 0) != wrong {
			t.Errorf("%s: %v", text, problems)
		}
	}
}
