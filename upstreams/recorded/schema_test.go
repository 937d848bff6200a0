package recorded

import (
	"testing"

	"sundry/upstreams/catalog"
	"sundry/upstreams/fields"
	"sundry/upstreams/plainjson"
	"sundry/upstreams/shape"
)

func shapeOf(t *testing.T, documents ...string) *Shape {
	t.Helper()
	var raw [][]byte
	for _, d := range documents {
		raw = append(raw, []byte(d))
	}
	s, err := shape.OfJSON(raw...)
	if err != nil {
		t.Fatal(err)
	}
	return (*Shape)(s)
}

func TestShapeAsSchema(t *testing.T) {
	s := shapeOf(t, `{"a":1,"list":[{"u":"1"}]}`, `{"a":null,"list":[],"extra":[]}`)
	const a, extra = `"a":{"format":"double","type":["number","null"]}`, `"extra":{"items":{},"type":"array"}`
	const u = `"u":{"type":"string"}`
	rows := []struct {
		fields []*catalog.Field
		want   string
	}{
		{nil, `{"properties":{` + a + `,` + extra + `,"list":{"items":{"properties":{` + u + `},"required":["u"],"type":"object"},"type":"array"}},"required":["a","list"],"type":"object"}`},
		{[]*catalog.Field{
			{Name: "none", EN: "N.", ZH: "无"}, {Name: "at", Is: fields.Time},
			{Name: "list", EN: "All <of> it.", ZH: "全部", Fields: []*catalog.Field{{Name: "z", Is: fields.Date}, {Name: "u", Is: fields.Link}}},
		}, `{"properties":{"none":{"description":"N. 无"},"at":{"format":"date-time","type":["string","null"]},"list":{"description":"All <of> it. 全部",` +
			`"items":{"properties":{"z":{"format":"date","type":["string","null"]},"u":{"format":"uri","type":["string","null"]}},"required":["z","u"],"type":"object"},"type":"array"},` +
			a + `,` + extra + `},"required":["none","at","list","a"],"type":"object"}`},
	}
	for _, row := range rows {
		got, err := plainjson.Marshal(s.Schema(row.fields))
		if err != nil || string(got) != row.want {
			t.Errorf("%v\n%s, want\n%s", err, got, row.want)
		}
	}
	links := shapeOf(t, `{"links":["https://a.example.org/"]}`).Schema([]*catalog.Field{{Name: "links", Is: fields.Link, EN: "L.", ZH: "链"}})
	if got, _ := plainjson.Marshal(links); string(got) != `{"properties":{"links":{"description":"L. 链","items":{"format":"uri","type":"string"},"type":"array"}},"required":["links"],"type":"object"}` {
		t.Errorf("%s", got)
	}
}

// TestSchemaOfMusts: what must have a value is required, and is not null, whatever was seen.
func TestSchemaOfMusts(t *testing.T) {
	s := shapeOf(t, `{"must":"a","may":null}`, `{"must":null,"may":"b"}`)
	got, err := plainjson.Marshal(s.Schema([]*catalog.Field{{Name: "must", Is: fields.Text, Must: true}, {Name: "may", Is: fields.Text}}))
	if want := `{"properties":{"must":{"type":"string"},"may":{"type":["string","null"]}},"required":["must","may"],"type":"object"}`; err != nil || string(got) != want {
		t.Errorf("%v\n%s, want\n%s", err, got, want)
	}
}
