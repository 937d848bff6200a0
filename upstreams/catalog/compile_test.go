package catalog

import (
	"strings"
	"testing"
)

// A chain ends in "no such thing" only where an input of the caller's can be at
// fault: a file from which another could is a mistake.
func TestWithoutInputNegativeIsAFailure(t *testing.T) {
	const number = `{name: n, type: int, min: 1, max: 9, default: "3", example: "4"}`
	inputs := map[string]struct {
		param   string
		refuses bool
	}{
		"a number":           {number, true},
		"one of a list":      {`{name: n, type: string, enum: ["3", "4"], default: "3", example: "4"}`, false},
		"what nobody gives":  {`{name: n, from: today}`, false},
		"the tail of a text": {`{name: n, role: tail, default: "3", example: "4"}`, false},
	}
	rules := map[string]string{
		"a rule of the source": "computed: {}\n    judge: [{if: .n == 0, is: negative}]",
		"a rule of a step":     "before: [{name: key, http: {url: 'http://a.example.org/'}, judge: [{status: [404], is: negative}]}]\n    computed: {}",
		"a no that leads on":   "computed: {}\n    negative: next",
	}
	for name, in := range inputs {
		for rule, text := range rules {
			file := strings.Replace(strings.Replace(whole, number, in.param, 1), "computed: {}", text, 1)
			_, err := loadText(t, file)
			switch {
			case in.refuses && err != nil:
				t.Errorf("%s, %s: %v", name, rule, err)
			case !in.refuses && (err == nil || !strings.Contains(err.Error(), "whole.yaml:1") || !strings.Contains(err.Error(), "no input that could be at fault")):
				t.Errorf("%s, %s: %v", name, rule, err)
			}
		}
	}
}

// TestHedgesThatMakeNoSense are mistakes of the file.
func TestHedgesThatMakeNoSense(t *testing.T) {
	const get = "http: {url: 'https://a.example.org/'}"
	sources := func(first, second string) string {
		text := whole[:strings.Index(whole, "sources:")] + "sources:\n  - {name: first, hedge: true, " + first + "}\n"
		if second != "" {
			text += "  - {name: second, " + second + "}\n"
		}
		return text
	}
	if _, err := loadText(t, sources(get, get)); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ first, second, want string }{
		{get, "", `whole.yaml:13: source "first": hedge: expected a source after it that could be asked as well`},
		{"computed: {}", get, `source "first": hedge: expected a source that makes a single GET of a declared host`},
		{"http: {url: 'https://a.example.org/', form: {a: b}}", get, `source "first": hedge: expected a source that makes a single GET`},
		{get, "http: {url: 'https://a.example.org/', form: {a: b}}", `the next source, "second", cannot be asked as well: it makes more than one GET`},
		{get, "http: {url: 'https://a.example.org/', json: '{}'}", "it makes more than one GET"},
		{get, "http: {url: 'https://a.example.org/', parts: [a, b], query: {p: '{part}'}}", "it makes more than one GET"},
		{get, "before: [{name: x, " + get + "}], vars: {y: $vars.x}, " + get, "it makes more than one GET"},
		{get, "rate: 1/1s, " + get, `the next source, "second", cannot be asked as well: it has a rate`},
		{get, "secrets: {key: SUNDRY_TEST_KEY}, http: {url: 'https://a.example.org/', query: {k: '{key}'}}", "it has secrets"},
		{get, "last_resort: true, " + get, "it is asked after others only"},
		{get, "after: failure, " + get, "it is asked after others only"},
	} {
		_, err := loadText(t, sources(c.first, c.second))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, then %s:\n%v\nwant %s", c.first, c.second, err, c.want)
		}
	}
}
