package catalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
)

// The data of JSON forms have the declared fields, in the declared order, null
// where nothing emits them: at the top, in objects, in items, in candidates.
func TestDeclaredFields(t *testing.T) {
	const mapped, form = "map: '{n: $params.n}'", "{name: json, json: .}"
	rows := map[string]struct{ data, form, fields, want string }{
		"an object": {`{z: 1, b: 2}`, "json: .", "{b: {}, a: , z: {}}", `{"b":2,"a":null,"z":1}`},
		"inside": {`{of: {z: 1}, none: null}`, "json: .", "{of: {fields: {a: {}, z: {}}}, none: {fields: {a: {}}}}",
			`{"of":{"a":null,"z":1},"none":null}`},
		"items": {`{list: [{z: 1}, {a: 2}, null], names: ["x"], empty: []}`, "json: .",
			"{names: {}, list: {fields: {a: {}, z: {}}}, empty: {fields: {a: {}}}}",
			`{"names":["x"],"list":[{"a":null,"z":1},{"a":2,"z":null},null],"empty":[]}`},
		"a list":         {`[{z: 1}, {}]`, "json: .", "{a: {}, z: {}}", `[{"a":null,"z":1},{"a":null,"z":null}]`},
		"candidates":     {`[{z: 1}]`, "each: '.[]', json: .", "{a: {}, z: {}}", `{"a":null,"z":1}`},
		"not declared":   {`{y: 1, of: {c: 2, b: 3}, x: 0}`, "json: .", "{of: {fields: {a: {}, b: {}}}}", `{"of":{"a":null,"b":3,"c":2},"x":0,"y":1}`},
		"none is needed": {`{z: 1, b: 2}`, "json: .", "{}", `{"b":2,"z":1}`},
	}
	for name, row := range rows {
		file := strings.NewReplacer(mapped, "map: '"+row.data+"'", form, "{name: json, "+row.form+"}", "forms:", "fields: "+row.fields+"\nforms:").Replace(whole)
		if got, want := answerOf(t, file), `{"code":200,"message":"ok","data":`+row.want+`}`; got != want {
			t.Errorf("%s:\n%s, want\n%s", name, got, want)
		}
	}
}

// Examples and schemas are made of what callers see.
func TestPresentedDataHasAllDeclaredFields(t *testing.T) {
	e := wholeOf(t, strings.Replace(whole, "forms:", "fields: {n: {}, of: {fields: {b: {}}}}\nforms:", 1))
	got := e.Forms[0].Present(t.Context(), map[string]any{"of": []any{map[string]any{"c": 1.0}}}, &jq.Env{}, 1)
	if diff := cmp.Diff([]any{map[string]any{"n": nil, "of": []any{map[string]any{"b": nil, "c": 1.0}}}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMistakesOfFields(t *testing.T) {
	for fields, want := range map[string]string{
		"fields: [a]":                                    "whole.yaml:8: fields: expected fields by name, got a list; for example fields: {title: {en: The title., zh: 标题。}}",
		"fields:\n  a: {is: day}":                        `whole.yaml:9: fields.a.is: expected time, date, link, text, number, integer or boolean, got "day"`,
		"fields:\n  a:\n    paths: {}":                   `whole.yaml:10: unknown key paths`,
		"fields:\n  a: {fields: [b]}":                    "whole.yaml:9: fields.a.fields: expected fields by name, got a list",
		"fields:\n  a: {}\n  a: {}":                      "whole.yaml:10: fields: key a: set twice, first in line 9",
		"fields:\n  a: {fields:\n    {b: {is: [link]}}}": "whole.yaml:10: fields.a.fields.b.is: expected a text, got a list",
	} {
		_, err := loadText(t, strings.Replace(whole, "cache:", fields+"\ncache:", 1))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n%v, want\n%s", fields, err, want)
		}
	}
	for fields, want := range map[string]string{
		"{a: {counts: b}}":                        `whole.yaml:8: fields: a: counts: expected the name of a list beside it, got "b"`,
		"{a: {}, b: {fields: {c: {must: true}}}}": "whole.yaml:8: fields: b.c: must, at_least and counts are about the data of sources; expected a json form that presents them as they are, for example {name: json, json: .}",
	} {
		text := strings.NewReplacer("cache:", "fields: "+fields+"\ncache:", "json: .}", "json: '{b: .}'}").Replace(whole)
		if _, err := loadText(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n%v, want\n%s", fields, err, want)
		}
	}
	text := strings.NewReplacer("  - {name: json, json: .}\n", "", "forms:", "fields: {a: {}}\nforms:").Replace(whole)
	if _, err := loadText(t, text); err == nil || !strings.Contains(err.Error(), "whole.yaml:9: fields: expected beside a json form, whose data they describe") {
		t.Error(err)
	}
}

// A better description is no reason to forget what is cached; another field is.
func TestKeysKnowTheFields(t *testing.T) {
	version := func(fields string) string {
		t.Helper()
		e := wholeOf(t, strings.Replace(whole, "forms:", "fields: "+fields+"\nforms:", 1))
		return e.Version()
	}
	first := version("{a: {fields: {b: {}}}}")
	if version("{a: {en: A., zh: 甲。, fields: {b: {is: link}}}}") != first {
		t.Error("another description, another version")
	}
	for _, other := range []string{"{a: {}, b: {}}", "{a: {fields: {b: {}, c: {}}}}"} {
		if version(other) == first {
			t.Errorf("%s: the same version", other)
		}
	}
}

// The files that come with the program describe all of their fields: one that did not
// would not load.
func TestUndescribedFields(t *testing.T) {
	for fields, want := range map[string]string{
		"":                            `[{10 form "json": fields: expected a description of the fields of its data, for example {title: {en: The title., zh: 标题。}}}]`,
		"{a: {en: A., zh: 甲}}":        "[]",
		"{a: {en: A., zh: 甲}, b: {}}": "[{9 fields: b: expected a description in both languages, for example {en: The title., zh: 标题。}}]",
		"{a: {en: A., zh: 甲, fields: {c: {en: C.}}}}": "[{9 fields: a.c: expected a description in both languages, for example {en: The title., zh: 标题。}}]",
	} {
		file := whole
		if fields != "" {
			file = strings.Replace(whole, "forms:", "fields: "+fields+"\nforms:", 1)
		}
		var spec endpointSpec
		var problems declare.Problems
		if !declare.Read([]byte(file), &spec, &problems) {
			t.Fatal(problems)
		}
		if got := fmt.Sprint(spec.undescribedFields()); got != want {
			t.Errorf("%q: %s, want %s", fields, got, want)
		}
	}
}
