package jq

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams/declare"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/plainjson"
)

// straightEnv has a value for every variable.
func straightEnv() *Env {
	return &Env{
		Params: map[string]any{"id": "7", "n": 3, "date": nil, "ip": "8.8.8.8", "url": "https://example.org/a"}, Now: time.Unix(1790000000, 0),
		Vars: map[string]any{"token": "t", "list": []any{"a", 1}}, Status: 200, Cause: "refused", Secrets: map[string]any{"key": ""},
		Header: http.Header{"Location": {"https://example.org/"}, "Set-Cookie": {"a=b"}, "X-Test": {"1", "2"}},
	}
}

// emitted are the first values that gojq emits, and its error.
func emitted(t testing.TB, q *Program, input any, env *Env, most int) (values []any, err error) {
	err = q.eachByGojq(t.Context(), input, env, func(v any) bool {
		values = append(values, v)
		return len(values) < most
	})
	return values, err
}

// compareRuns holds a straight program to gojq, and reports whether it was sure.
func compareRuns(t testing.TB, program string, q *Program, input any) bool {
	return compareRunsWith(t, program, q, input, straightEnv())
}

// compareRunsWith is compareRuns with other values of the variables.
func compareRunsWith(t testing.TB, program string, q *Program, input any, env *Env) bool {
	const most = 1000
	var got []any
	_, sure := q.straight.each(input, env, func(v any) bool {
		got = append(got, v)
		return len(got) < most
	})
	want, err := emitted(t, q, input, env, most)
	switch {
	case errors.Is(err, t.Context().Err()) && err != nil, len(want) < len(got), !reflect.DeepEqual(got, append([]any(nil), want[:len(got)]...)):
		t.Errorf("%s\nof %s: %s, gojq %s %v", program, short(input), short(got), short(want), err)
	case sure && (err != nil || len(want) != len(got)):
		t.Errorf("%s\nof %s: sure of %s, gojq %s %v", program, short(input), short(got), short(want), err)
	}
	if v, ok := q.straight.one(input, env); ok && (len(want) != 1 || err != nil || !reflect.DeepEqual(v, want[0])) {
		t.Errorf("%s\nof %s: one %s, gojq %s %v", program, short(input), short(v), short(want), err)
	}
	return sure
}

func short(v any) string {
	b, _ := json.Marshal(v)
	return string(b[:min(len(b), 300)])
}

func compileText(text string, defs *Defs) *Program {
	var problems declare.Problems
	return Compile(&declare.Expr{Text: text}, defs, &problems)
}

// TestStraightPrograms compares every text of the catalog that is a straight program, for
// every recorded reply and answer of its endpoint, and these with something changed.
func TestStraightPrograms(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	programs, runs, all := 0, 0, 0
	for _, endpoint := range endpoints(t) {
		texts, defs := catalogTexts(t, endpoint)
		inputs := recordedInputs(t, endpoint)
		for _, text := range texts {
			q := compileText(text, defs)
			if q == nil || q.straight == nil {
				continue
			}
			programs++
			for i := 0; i < len(inputs); i += longtest.Every(5) {
				all++
				if compareRuns(t, text, q, inputs[i]) {
					runs++
				}
			}
		}
	}
	t.Logf("%d programs, sure in %d of %d runs", programs, runs, all)
	if programs < 400 || runs < 50000/longtest.Every(5) {
		t.Errorf("%d programs were sure in %d of %d runs", programs, runs, all)
	}
}

// catalogTexts are all scalars of the files of an endpoint, with the defs.
func catalogTexts(t *testing.T, endpoint string) (texts []string, defs *Defs) {
	t.Helper()
	seen := map[string]bool{}
	var specs declare.Defs
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode && !seen[n.Value] {
			seen[n.Value] = true
			texts = append(texts, n.Value)
		}
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 0 && child.Value == "defs" {
				if err := n.Content[i+1].Load(&specs); err != nil {
					t.Fatal(err)
				}
			}
			walk(child)
		}
	}
	for _, file := range filesOf(t, endpoint) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var root yaml.Node
		if err := yaml.Load(b, &root); err != nil {
			t.Fatal(err)
		}
		walk(&root)
	}
	var problems declare.Problems
	return texts, CompileDefs(specs, &problems)
}

// endpoints are those of the catalog, each a file or a folder.
func endpoints(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../catalog/*.yaml")
	folders, err2 := filepath.Glob("../catalog/*/endpoint.yaml")
	if err := errors.Join(err, err2); err != nil || len(files) < 10 || len(folders) == 0 {
		t.Fatal(files, folders, err)
	}
	var names []string
	for _, file := range append(files, folders...) {
		name, _, _ := strings.Cut(strings.TrimPrefix(file, "../catalog/"), "/")
		names = append(names, strings.TrimSuffix(name, ".yaml"))
	}
	return names
}

// filesOf are the files of an endpoint, those that it may use first, then the one about
// it as a whole.
func filesOf(t *testing.T, endpoint string) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"shared/*.yaml", endpoint + ".yaml", endpoint + "/endpoint.yaml", endpoint + "/*.yaml"} {
		found, err := filepath.Glob("../catalog/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, slices.DeleteFunc(found, func(file string) bool { return slices.Contains(files, file) })...)
	}
	return files
}

// recordedInputs are the documents of an endpoint's exchanges, and changed ones.
func recordedInputs(t *testing.T, endpoint string) []any {
	t.Helper()
	inputs := []any{nil, map[string]any{}, []any{}, "text", true, 7, json.Number("1.50")}
	err := filepath.WalkDir("../fixtures/testdata/"+endpoint, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil || len(b) > 64<<10 {
			return err
		}
		if v, ok := plainjson.Decode(b, 100); ok {
			all := changed(v)
			inputs = append(inputs, v)
			for i := 0; i < len(all); i += 1 + len(all)/3 {
				inputs = append(inputs, all[i])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return inputs
}

// changed are copies of an object in which one field is another value.
func changed(v any) []any {
	object, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	var out []any
	for _, name := range slices.Sorted(maps.Keys(object)) {
		value := object[name]
		for _, other := range []any{nil, "x", 1, json.Number("2.0"), []any{nil, "a", json.Number("3")}, map[string]any{"a": nil}} {
			out = append(out, with(object, name, other))
		}
		for _, inner := range changed(value) {
			if len(out) < 60 {
				out = append(out, with(object, name, inner))
			}
		}
	}
	return out
}

func with(object map[string]any, name string, value any) map[string]any {
	out := maps.Clone(object)
	out[name] = value
	return out
}

// straightPrograms are programs that are straight; every construct occurs.
var straightPrograms = []string{
	`.`, `.a.b`, `.["a"]`, `."a"`, `.[0]`, `.[-1]`, `.a[.k]`, `.a[]`, `.a[].b`, `.a[][0]`, `.[]?`, `.a?`, `.a[]?.b`, `null`, `true`, `false`, `7`, `-7`, `"text"`, `"a\(.a)b\(1)\("x")"`,
	`{}`, `{a}`, `{a, b: .c}`, `{"a": 1}`, `{"a"}`, `{"\(.k)": 1}`, `{(.k): .a}`, `{"\(.k)"}`, `. as $x | {$x}`, `{a: 1, a: 2}`, `[]`, `[.a]`, `[.a[]]`, `[.a, .b]`, `.a, .b`, `.a | .b`, `.a[] | select(.b) | .c`,
	`.a == 1`, `.a != "x"`, `.a < .b`, `.a <= 2`, `.a > 2`, `.a >= null`, `.a and .b`, `.a or .b`, `.a | not`, `.a // "none"`, `(.a // empty)`, `.a + .b`, `"x" + .a`, `. + null`, `[1] + []`, `[] + []`, `{} + {}`, `{a: 1} + .`,
	`if .a then 1 else 2 end`, `if .a then 1 end`, `if .a then 1 elif .b then 2 else .c[] end`, `.a as $x | .b | [$x, .]`, `.a[] as $x | $x.b`, `[.a[] as $x | .a[] as $y | [$x, $y]]`,
	`def f: .a; f`, `def f(g): [.a[] | g]; f(.b)`, `def f($x): [$x, x]; f(.a)`, `def f($x; g): g | [., $x]; f(.a; .b)`, `def f: 1; def g: f; def f: 2; g`, `def f(x): def x: 3; x; f(4)`, `1 as $x | def f: $x; 2 as $x | f`, `def f(g): 1 as $x | g; 2 as $x | f($x)`,
	`def t(f): f | f; t(. as $x | [$x])`, `def f(g): g as $x | [g, $x]; [f(.a[] as $y | $y)]`, `empty`, `[empty]`, `map(.b)`, `.a | map(select(.b != null))`, `select(.a)`, `length`, `.a | length`, `tostring`, `.a | tostring`, `type`, `first`, `.a | first`, `.a | last`,
	`.a | join(",")`, `.a | join(.b)`, `startswith("t")`, `.k | startswith("a")`, `.k | endswith("a")`, `.k | ltrimstr("a")`, `.k | rtrimstr("a")`,
	`$params`, `$now`, `$vars.token`, `$status`, `$location`, `$cookies`, `$headers["x-test"]`, `$secrets.key`, `$cause`, `{$params}`, `{$headers}`,
}

var straightInputs = []string{
	`null`, `{}`, `[]`, `"text"`, `1`, `{"a":{"b":1},"b":2,"k":"a"}`, `{"a":[{"b":1,"c":"x"},{"b":null},{"b":false}],"b":", ","k":"b"}`, `{"a":[1,"b",null,true,2.50,[3]],"c":[1,2]}`,
	`{"a":["x","y"],"b":"-","c":[]}`, `{"a":"x","b":"y"}`, `{"a":1,"b":2.0}`, `{"a":false,"b":[1]}`, `[1,[2],{"a":3}]`, `{"a":{"x":1,"y":[2]},"b":{"y":3},"k":7}`, `{"a":[[1,2],[3]],"k":-1}`, `12345678901234567890`,
}

func TestStraightConstructs(t *testing.T) {
	sure := 0
	for _, text := range straightPrograms {
		q := compileText(text, nil)
		if q == nil || q.straight == nil {
			t.Errorf("%s: it is not straight", text)
			continue
		}
		for _, input := range straightInputs {
			v, _ := plainjson.Decode([]byte(input), 10)
			if compareRuns(t, text, q, v) {
				sure++
			}
		}
	}
	if least := 6 * len(straightPrograms); sure < least {
		t.Errorf("they were sure %d times, fewer than %d", sure, least)
	}
}

func TestNotStraight(t *testing.T) {
	for _, text := range []string{
		`.a * 2`, `reduce .[] as $x (0; . + $x)`, `.a = 1`, `.a |= .`, `.a[1:2]`, `try .a`, `def f: f; f`, `def f: f, f; f`, `.. `, `{a: .b[]}`, `[.[] | test("x")]`, `. as [$x] | $x`, `1.5`, `@base64`, `input`, `label $x | break $x`, `.a[][.b]`,
	} {
		if q := compileText(text, nil); q != nil && q.straight != nil {
			t.Errorf("%s: it is straight", text)
		}
	}
}

// TestStraightIsBounded: what takes long is gojq's, which is stopped after a while.
func TestStraightIsBounded(t *testing.T) {
	q := compileText(`[.[] as $a | .[] as $b | .[] as $c | 1] | length`, nil)
	if q == nil || q.straight == nil {
		t.Fatal("it is not straight")
	}
	if _, sure := q.straight.one(make([]any, 1000), straightEnv()); sure {
		t.Error("it did a thousand million steps")
	}
	if v, sure := q.straight.one(make([]any, 10), straightEnv()); !sure || v != 1000 {
		t.Errorf("%v %v of a thousand steps", v, sure)
	}
}

// TestStraightThenGojq: what was emitted before a run was unsure is not emitted again.
func TestStraightThenGojq(t *testing.T) {
	q := compileText(`.[] | .a`, nil)
	input := []any{map[string]any{"a": 1}, map[string]any{"a": 2}, "x"}
	var got []any
	err := q.Each(t.Context(), input, straightEnv(), func(v any) bool {
		got = append(got, v)
		return true
	})
	if err == nil || !strings.Contains(err.Error(), "expected an object") || !reflect.DeepEqual(got, []any{1, 2}) {
		t.Errorf("%v %v", got, err)
	}
}

// A part that never runs is compiled by gojq, which knows the mistakes in it.
func TestStraightHidesNoMistake(t *testing.T) {
	for text, mistake := range map[string]bool{
		"def f: .a; .b": false, "def f: nope; .b": true, "def f: $nope; .b": true,
		"def f(x): 1; f(.a)": false, "def f(x): 1; f(nope)": true, "def f($x): 1; f(nope)": true,
		"if true then 1 else nope end": true, ".a // $nope": true, "{$nope}": true, "empty | nope": true,
	} {
		if q := compileText(text, nil); (q == nil) != mistake {
			t.Errorf("%s: compiled %v, expected a mistake: %v", text, q != nil, mistake)
		}
	}
}

func FuzzStraight(f *testing.F) {
	for i, text := range straightPrograms {
		f.Add(text, straightInputs[i%len(straightInputs)])
	}
	f.Fuzz(func(t *testing.T, text, input string) {
		v, ok := plainjson.Decode([]byte(input), 10)
		if !ok {
			t.Skip()
		}
		if q := compileText(text, nil); q != nil && q.straight != nil {
			compareRuns(t, text, q, v)
		}
	})
}

// BenchmarkStraight runs a program as catalog files have them, and the same by gojq alone.
func BenchmarkStraight(b *testing.B) {
	q := compileText(`.data | {id, name, list: [.list[] | {title, url: .link, top: (.rank == 1)}]}`, nil)
	input, ok := plainjson.Decode([]byte(`{"data":{"id":7,"name":"a","list":[`+strings.Repeat(`{"title":"b","link":"c","rank":2},`, 9)+`{}]}}`), 10)
	if q == nil || q.straight == nil || !ok {
		b.Fatal("it is not straight")
	}
	for name, run := range map[string]func() error{
		"straight": func() error { _, err := q.One(b.Context(), input, &Env{}); return err },
		"gojq":     func() error { _, err := emitted(b, q, input, &Env{}, 2); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
