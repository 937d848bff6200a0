package catalog

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
	"sundry/upstreams/lib/plainjson"
)

// answerOf is the JSON of a file's endpoint.
func answerOf(t *testing.T, file string) string {
	t.Helper()
	c, err := loadText(t, "whole", file)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := c.Get("whole")
	in, bad := e.Parse("", Caller{Addr: caller})
	if bad != nil {
		t.Fatal(bad)
	}
	content, err := (&Fill{Input: in}).Load(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	return string(content.Forms[0][0].Data)
}

// Fields come as the programs of the file write them.
func TestFieldsComeInTheOrderOfTheFile(t *testing.T) {
	const mapped = "map: '{n: $params.n}'"
	for by, want := range map[string]string{
		"map: '{z: 1, a: {y: 2, b: 3}}'":                               `{"z":1,"a":{"y":2,"b":3}}`,
		"map: '[{z: 1, a: 2}, {a: 3, q: 4, z: 5}]'":                    `[{"z":1,"a":2},{"z":5,"a":3,"q":4}]`,
		"map: '{z: 1} + ({c: 1, b: 2} | with_entries(.))'":             `{"z":1,"c":1,"b":2}`,
		"map: '{z: 1} + (\"{\\\"k\\\":1,\\\"b\\\":2}\" | fromjson)'":   `{"z":1,"b":2,"k":1}`,
		"vars: {v: '{z: 1, a: 2}'}\n    map: '{w: $vars.v, list: []}'": `{"w":{"z":1,"a":2},"list":[]}`,
	} {
		got := answerOf(t, strings.Replace(whole, mapped, by, 1))
		if want = `{"code":200,"message":"ok","data":` + want + `}`; got != want {
			t.Errorf("%s:\n%s, want\n%s", by, got, want)
		}
	}
}

// The order of an object that a def makes is the def's.
func TestFieldsOfADefComeInItsOrder(t *testing.T) {
	const defs = "defs:\n  author: '{z: 1, name: 2}'\n  work(n): '{title: 0, author: author, id: n}'\nparams:"
	file := strings.NewReplacer("params:", defs, "map: '{n: $params.n}'", "map: '{works: [work(1)], first: work(2)}'").Replace(whole)
	const work = `{"title":0,"author":{"z":1,"name":2},"id":`
	if got, want := answerOf(t, file), `"data":{"works":[`+work+`1}],"first":`+work+`2}}}`; !strings.HasSuffix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

// A form may put an object of its own around the data, or emit parts of it.
func TestOrderOfAForm(t *testing.T) {
	file := strings.Replace(whole, "map: '{n: $params.n}'", "map: '{z: 1, a: {y: 2, b: 3}, u: 0}'", 1)
	for form, want := range map[string]string{
		"json: '{of: .a, all: .}'":            `{"of":{"y":2,"b":3},"all":{"z":1,"a":{"y":2,"b":3},"u":0}}`,
		"each: '., .', json: '{n: 1, a: .a}'": `{"n":1,"a":{"y":2,"b":3}}`,
	} {
		if got := answerOf(t, strings.Replace(file, "json: .", form, 1)); !strings.Contains(got, `"data":`+want+`}`) {
			t.Errorf("%s:\n%s, want\n%s", form, got, want)
		}
	}
}

func TestEncode(t *testing.T) {
	fields := jq.FieldsOf(&declare.Expr{Text: "{b, a: {d}, list: [{y, x}]}"}, nil, nil, nil)
	huge, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	got, err := encode("", map[string]any{
		"a": map[string]any{"c": "<中&\u2028>", "d": nil}, "b": 1.5, "z": true, "aa": huge,
		"list": []any{map[string]any{"x": 1, "y": json.Number("2.50")}, []any{}, []any(nil), map[string]any{}},
	}, fields, "")
	want := `{"b":1.5,"a":{"d":null,"c":"<中&\u2028>"},"list":[{"y":2.50,"x":1},[],null,{}],"aa":123456789012345678901234567890,"z":true}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s, want\n%s", err, got, want)
	}
	if _, err := encode("", map[string]any{"f": func() {}}, nil, ""); err == nil {
		t.Error("a function was written")
	}
}

// FuzzEncode: whatever the order, it is the same JSON.
func FuzzEncode(f *testing.F) {
	f.Add(`{"b":[1,2.5e300,{"x":null,"a":"\u2028<"}],"a":{"b":{"c":[]}}}`, "{a: {b}, z}")
	f.Add(`[{"":0},"",{"b":1,"a":[[{"b":1,"a":2}]]}]`, "[{b, a: [[{b}]]}]")
	f.Fuzz(func(t *testing.T, document, order string) {
		var v any
		if json.Unmarshal([]byte(document), &v) != nil {
			return
		}
		got, err := encode("", v, jq.FieldsOf(&declare.Expr{Text: order}, nil, nil, nil), "")
		if err != nil {
			t.Fatal(err)
		}
		plain, err := plainjson.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var again any
		if err := json.Unmarshal(got, &again); err != nil || !cmp.Equal(v, again) || len(got) != len(plain) {
			t.Fatalf("%v: %s of %s", err, got, plain)
		}
	})
}
