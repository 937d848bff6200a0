package recorded

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func shape(t *testing.T, documents ...string) *Shape {
	t.Helper()
	var raw [][]byte
	for _, d := range documents {
		raw = append(raw, []byte(d))
	}
	s, err := shapeOfJSON(raw...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestShapesDiffer(t *testing.T) {
	s := shape(t, `{"a":1,"b":"x","list":[{"u":"1","n":null}],"o":{"x":true}}`, `{"a":null,"b":"y","list":[],"extra":1,"o":{"x":false}}`)
	for document, want := range map[string][]string{
		`{"a":2,"b":"z","list":[{"u":"3","n":null}],"o":{"x":true},"new":1}`:       nil,
		`{"a":null,"b":"z","list":[],"o":{"x":true},"extra":2}`:                    nil,
		`{"a":"2","b":"z","list":[],"o":{"x":true}}`:                               {"data.a: is string, was one of null, number"},
		`{"b":"z","list":[],"o":{}}`:                                               {"data.a: is missing", "data.o.x: is missing"},
		`{"a":1,"b":"z","list":[{"u":1,"n":null},{"u":2},{"u":2}],"o":{"x":true}}`: {"data.list[].n: is missing", "data.list[].u: is number, was one of string"},
		`[]`: {"data: is array, was one of object"},
	} {
		var v any
		if err := json.Unmarshal([]byte(document), &v); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, s.Differences("data", v)); diff != "" {
			t.Errorf("%s: %s", document, diff)
		}
	}
}

func TestShapeAsSchema(t *testing.T) {
	got := shape(t, `{"a":1,"list":[{"u":"1"}]}`, `{"a":null,"list":[],"extra":[]}`).Schema()
	want := map[string]any{
		"type": "object", "required": []string{"a", "list"},
		"properties": map[string]any{
			"a":     map[string]any{"type": []string{"null", "number"}},
			"extra": map[string]any{"type": "array", "items": map[string]any{}},
			"list": map[string]any{"type": "array", "items": map[string]any{
				"type": "object", "required": []string{"u"}, "properties": map[string]any{"u": map[string]any{"type": "string"}},
			}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestEveryJSONFormHasASample: what is documented comes from what was recorded.
func TestEveryJSONFormHasASample(t *testing.T) {
	c, cases := mustLoad(t, nil), mustCases(t)
	if _, err := Exchanges(c, cases); err != nil {
		t.Fatal(err)
	}
	for _, e := range c.Endpoints {
		s := SampleOf(t.Context(), e, cases)
		if jsonForm(e) != nil && (s.Data == nil || len(s.Shape.types) == 0) {
			t.Errorf("%s: no sample", e.Name)
		}
	}
}
