package httpsource

import (
	"testing"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
)

// What a step caches is another result when what is made of the reply changes, be
// it in a def. Where it stands in the file, and how it asks, makes no difference.
func TestVersionOfAStep(t *testing.T) {
	version := func(defs, step string) string {
		t.Helper()
		var problems declare.Problems
		var named declare.Defs
		var spec StepSpec
		for text, into := range map[string]any{defs: &named, step: &spec} {
			if err := yaml.Load([]byte(text), into, yaml.WithKnownFields()); err != nil {
				t.Fatal(err)
			}
		}
		compiled := jq.CompileDefs(named, &problems)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return spec.version(compiled)
	}
	const defs, step = "{code: .code, refused: code == 429, tidy: .data, spare: .}", "judge: [{if: refused, is: limited}]\nkeep: tidy\nhttp: {url: 'http://a.example.org/'}"
	first := version(defs, step)
	for _, same := range [][2]string{
		{defs, "\n\n" + step},
		{"{code: .code, refused: code == 429, tidy: .data, spare: .x}", step},
		{defs, "judge: [{if: refused, is: limited}]\nkeep: tidy\nhttp: {url: 'http://b.example.org/', query: {q: a}}"},
	} {
		if got := version(same[0], same[1]); got != first {
			t.Errorf("%s: another version", same)
		}
	}
	for _, other := range [][2]string{
		{"{code: .code, refused: code == 429, tidy: .result}", step},
		{"{code: .status, refused: code == 429, tidy: .data}", step},
		{defs, "judge: [{if: refused, is: unavailable}]\nkeep: tidy\nhttp: {url: 'http://a.example.org/'}"},
		{defs, "judge: [{status: [403], is: limited}]\nkeep: tidy\nhttp: {url: 'http://a.example.org/'}"},
		{defs, "judge: [{if: refused, is: limited}]\nkeep: .\nhttp: {url: 'http://a.example.org/'}"},
		{defs, "judge: [{if: refused, is: limited}]\nkeep: tidy\nhttp: {url: 'http://a.example.org/', decode: jsonp}"},
	} {
		if got := version(other[0], other[1]); got == first {
			t.Errorf("%s: the same version", other)
		}
	}
}
