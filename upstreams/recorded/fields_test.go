package recorded

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"testing"
	"time"

	"sundry/upstreams/catalog"
	"sundry/upstreams/fields"
)

// undeclared are the endpoints whose fields are not declared yet. The list only
// becomes shorter.
var undeclared = []string{}

// answers calls yield with the JSON that an endpoint answers: of every recorded case,
// and to its example calls.
func answers(t *testing.T, yield func(e *catalog.Endpoint, from string, document []byte)) {
	t.Helper()
	presented(t, yield)
	for _, e := range replayed(t).Endpoints {
		for _, row := range Calls(e) {
			in, bad := e.Parse(row.Query, catalog.Caller{Addr: caller})
			if bad != nil || in.Form.Kind != "json" {
				continue
			}
			content, err := (&catalog.Fill{Input: in}).Load(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}
			for _, body := range content.Forms[in.Form.FormIndex()] {
				yield(e, content.Source+"?"+row.Query, body.Data)
			}
		}
	}
}

// TestEveryFieldIsDeclared: all that an endpoint's JSON holds is declared with a
// description in both languages, and is what the declaration says. And each declared
// field has a value in some answer: a description of what never comes is a false one.
func TestEveryFieldIsDeclared(t *testing.T) {
	filled := map[string]bool{}
	answers(t, func(e *catalog.Endpoint, from string, document []byte) {
		var answer struct{ Data any }
		if err := json.Unmarshal(document, &answer); err != nil {
			t.Fatal(err)
		}
		fill(filled, e.Name, answer.Data)
		if e.Fields == nil {
			return
		}
		for _, wrong := range violations("data", answer.Data, &catalog.Field{Fields: e.Fields}) {
			t.Errorf("%s by %s: %s", e.Name, from, wrong)
		}
	})
	for _, e := range replayed(t).Endpoints {
		exempt := slices.Contains(undeclared, e.Name)
		switch {
		case jsonForm(e) == nil:
			if exempt {
				t.Errorf("%s: has no JSON: take it off the list", e.Name)
			}
		case exempt && e.Fields != nil:
			t.Errorf("%s: declares its fields: take it off the list", e.Name)
		case !exempt && e.Fields == nil:
			t.Errorf("%s: does not declare its fields", e.Name)
		}
		checkFields(t, e.Name, e.Fields, filled)
	}
}

// checkFields holds fields to a description in both languages, and to a value.
func checkFields(t *testing.T, path string, fields []*catalog.Field, filled map[string]bool) {
	t.Helper()
	for _, f := range fields {
		at := path + "." + f.Name
		if f.EN == "" || f.ZH == "" {
			t.Errorf("%s: no description", at)
		}
		if !filled[at] {
			t.Errorf("%s: null or absent in every recorded answer: record one that has it", at)
		}
		checkFields(t, at, f.Fields, filled)
	}
}

// fill notes which fields have values, by their paths without the places in lists.
func fill(filled map[string]bool, path string, v any) {
	switch v := v.(type) {
	case nil:
		return
	case []any:
		for _, item := range v {
			fill(filled, path, item)
		}
	case map[string]any:
		for name, value := range v {
			fill(filled, path+"."+name, value)
		}
	}
	filled[path] = true
}

// violations lists where a value is not what its field says.
func violations(path string, v any, f *catalog.Field) []string {
	var found []string
	switch v := v.(type) {
	case nil:
	case []any:
		for _, item := range v {
			found = append(found, violations(path+"[]", item, f)...)
		}
	case map[string]any:
		for name, value := range v {
			i := slices.IndexFunc(f.Fields, func(o *catalog.Field) bool { return o.Name == name })
			if i < 0 {
				found = append(found, path+"."+name+" is not declared")
				continue
			}
			found = append(found, violations(path+"."+name, value, f.Fields[i])...)
		}
	default:
		if f.Fields != nil {
			found = append(found, fmt.Sprintf("%s has fields, but is %v", path, v))
		}
		if !holds(f.Is, v) {
			found = append(found, fmt.Sprintf("%s is a %s, but is %v", path, f.Is, v))
		}
	}
	return found
}

var zoned = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)

// holds reports whether a value is what is: says.
func holds(is fields.Type, v any) bool {
	text, ok := v.(string)
	switch is {
	case fields.Time:
		_, err := time.Parse(time.RFC3339, text)
		return ok && err == nil && zoned.MatchString(text)
	case fields.Date:
		_, err := time.Parse(time.DateOnly, text)
		return ok && err == nil
	case fields.Link:
		u, err := url.Parse(text)
		return ok && err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
	}
	return true
}

// The check itself finds what it is for.
func TestViolations(t *testing.T) {
	f := &catalog.Field{Fields: []*catalog.Field{
		{Name: "at", Is: fields.Time}, {Name: "date", Is: fields.Date}, {Name: "links", Is: fields.Link},
		{Name: "of", Fields: []*catalog.Field{{Name: "n"}}},
	}}
	for document, want := range map[string]string{
		`{"at": "2026-11-21T08:00:00+08:00", "date": "2026-11-21", "links": ["https://a.example.org/?b"], "of": [{"n": 1}]}`: "[]",
		`{"at": null, "date": null, "links": null, "of": null}`:                                                              "[]",
		`{"at": "2026-11-21T08:00:00"}`:   "[data.at is a time, but is 2026-11-21T08:00:00]",
		`{"at": 1732147200}`:              "[data.at is a time, but is 1.7321472e+09]",
		`{"date": "2026-11-31"}`:          "[data.date is a date, but is 2026-11-31]",
		`{"links": ["//a.example.org/"]}`: "[data.links[] is a link, but is //a.example.org/]",
		`{"links": "https:///a"}`:         "[data.links is a link, but is https:///a]",
		`{"of": {"m": 1}}`:                "[data.of.m is not declared]",
		`{"of": 1}`:                       "[data.of has fields, but is 1]",
		`{"date": {"y": 1}}`:              "[data.date.y is not declared]",
	} {
		var v any
		if err := json.Unmarshal([]byte(document), &v); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(violations("data", v, f)); got != want {
			t.Errorf("%s: %s, want %s", document, got, want)
		}
	}
}
