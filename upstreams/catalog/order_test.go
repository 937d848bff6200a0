package catalog

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sundry/upstreams/lib/plainjson"
)

// inputOf is what a query without parameters asks of a file's endpoint.
func inputOf(t *testing.T, file string) *Input {
	t.Helper()
	e := wholeOf(t, file)
	in, bad := e.Parse("", Caller{Addr: caller})
	if bad != nil {
		t.Fatal(bad)
	}
	return &in
}

// answerOf is the JSON of a file's endpoint.
func answerOf(t *testing.T, file string) string {
	t.Helper()
	content, err := (&Loader{Input: *inputOf(t, file)}).Load(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	return string(content.Forms[0][0].Data)
}

// Declared fields come as the file declares them, at each depth; the others after them, by name.
func TestOrderOfFields(t *testing.T) {
	const declared = "fields: {z: {en: Z., zh: Z。}, a: {fields: {y: {en: Y., zh: Y。}, b: {en: B., zh: B。}}}}\nforms:"
	const mapped = "map: '{n: $params.n}'"
	file := strings.Replace(whole, "forms:", declared, 1)
	for by, want := range map[string]string{
		"map: '{a: {b: 3, y: 2}, z: 1}'":       `{"z":1,"a":{"y":2,"b":3}}`,
		"map: '[{a: [{b: 2}], z: 1}, {z: 5}]'": `[{"z":1,"a":[{"y":null,"b":2}]},{"z":5,"a":null}]`,
		"map: '{w: {z: 1, a: 2}, c: 1, z: 3}'": `{"z":3,"a":null,"c":1,"w":{"a":2,"z":1}}`,
	} {
		got := answerOf(t, strings.Replace(file, mapped, by, 1))
		if want = `{"code":200,"message":"ok","data":` + want + `}`; got != want {
			t.Errorf("%s:\n%s, want\n%s", by, got, want)
		}
	}
}

func TestEncode(t *testing.T) {
	fields := fieldsNamed("b", "a", "list")
	fields[1].Fields, fields[2].Fields = fieldsNamed("d"), fieldsNamed("y", "x")
	huge, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	got, err := encode("", map[string]any{
		"a": map[string]any{"c": "<中&\u2028>", "d": nil}, "b": 1.5, "z": true, "aa": huge,
		"list": []any{map[string]any{"x": 1, "y": json.Number("2.50")}, []any{}, []any(nil), map[string]any{}},
	}, fields, "")
	want := `{"b":1.5,"a":{"d":null,"c":"<中&\u2028>"},"list":[{"y":2.50,"x":1},[],null,{"y":null,"x":null}],"aa":123456789012345678901234567890,"z":true}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s, want\n%s", err, got, want)
	}
	if _, err := encode("", map[string]any{"f": func() {}}, nil, ""); err == nil {
		t.Error("a function was written")
	}
}

// fieldsNamed are declared fields of these names.
func fieldsNamed(names ...string) []*Field {
	var out []*Field
	for _, name := range names {
		out = append(out, &Field{Name: name})
	}
	return out
}

// FuzzEncode: whatever the order, it is the same JSON, with null for what is declared and absent.
func FuzzEncode(f *testing.F) {
	f.Add(`{"b":[1,2.5e300,{"x":null,"a":"\u2028<"}],"a":{"b":{"c":[]}}}`, "a z")
	f.Add(`[{"":0},"",{"b":1,"a":[[{"b":1,"a":2}]]}]`, "b a")
	f.Fuzz(func(t *testing.T, document, order string) {
		var v any
		if json.Unmarshal([]byte(document), &v) != nil {
			return
		}
		names := slices.DeleteFunc(strings.Fields(order), func(name string) bool { return !utf8.ValidString(name) })
		declared := fieldsNamed(slices.Compact(slices.Sorted(slices.Values(names)))...)
		got, err := encode("", v, declared, "")
		if err != nil {
			t.Fatal(err)
		}
		addAbsent(v, declared)
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

// addAbsent adds null for the declared fields that an object, or those in a list, lack.
func addAbsent(v any, declared []*Field) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			addAbsent(item, declared)
		}
	case map[string]any:
		for _, f := range declared {
			if _, ok := v[f.Name]; !ok {
				v[f.Name] = nil
			}
		}
	}
}
