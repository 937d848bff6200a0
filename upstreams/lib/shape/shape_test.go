package shape

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func shapeOf(t *testing.T, documents ...string) *Shape {
	t.Helper()
	s := &Shape{}
	for _, d := range documents {
		var v any
		if err := json.Unmarshal([]byte(d), &v); err != nil {
			t.Fatal(err)
		}
		s.Add(v)
	}
	return s
}

func TestShapesDiffer(t *testing.T) {
	s := shapeOf(t, `{"a":1,"b":"x","list":[{"u":"1","n":null}],"o":{"x":true}}`, `{"a":null,"b":"y","list":[],"extra":1,"o":{"x":false}}`)
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
		var got []string
		for _, d := range s.Differences("data", v) {
			got = append(got, d.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", document, diff)
		}
	}
}
