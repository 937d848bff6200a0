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
