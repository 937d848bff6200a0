package recorded

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sundry/upstreams/catalog"
	"sundry/upstreams/plainjson"
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
	s := shape(t, `{"a":1,"list":[{"u":"1"}]}`, `{"a":null,"list":[],"extra":[]}`)
	const a, extra = `"a":{"type":["number","null"]}`, `"extra":{"items":{},"type":"array"}`
	const u = `"u":{"type":"string"}`
	rows := []struct {
		fields []*catalog.Field
		want   string
	}{
		{nil, `{"properties":{` + a + `,` + extra + `,"list":{"items":{"properties":{` + u + `},"required":["u"],"type":"object"},"type":"array"}},"required":["a","list"],"type":"object"}`},
		{[]*catalog.Field{
			{Name: "none", EN: "N.", ZH: "无"}, {Name: "at", Is: catalog.IsTime},
			{Name: "list", EN: "All <of> it.", ZH: "全部", Fields: []*catalog.Field{{Name: "z", Is: catalog.IsDate}, {Name: "u", Is: catalog.IsLink}}},
		}, `{"properties":{"none":{"description":"N. 无"},"at":{"format":"date-time","type":"string"},"list":{"description":"All <of> it. 全部",` +
			`"items":{"properties":{"z":{"format":"date","type":"string"},"u":{"format":"uri","type":"string"}},"required":["z","u"],"type":"object"},"type":"array"},` +
			a + `,` + extra + `},"required":["none","at","list","a"],"type":"object"}`},
	}
	for _, row := range rows {
		got, err := plainjson.Marshal(s.Schema(row.fields))
		if err != nil || string(got) != row.want {
			t.Errorf("%v\n%s, want\n%s", err, got, row.want)
		}
	}
	links := shape(t, `{"links":["https://a.example.org/"]}`).Schema([]*catalog.Field{{Name: "links", Is: catalog.IsLink, EN: "L.", ZH: "链"}})
	if got, _ := plainjson.Marshal(links); string(got) != `{"properties":{"links":{"description":"L. 链","items":{"format":"uri","type":"string"},"type":"array"}},"required":["links"],"type":"object"}` {
		t.Errorf("%s", got)
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
