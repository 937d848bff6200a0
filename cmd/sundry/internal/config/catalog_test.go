package config

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
	"sundry/upstreams/lib/plainjson"
)

// TestSchemaGoldenFiles: the schemas say what the types say that files are decoded
// into.
func TestSchemaGoldenFiles(t *testing.T) {
	comments := NewComments("../../../..", "sundry")
	golden(t, "../../../../upstreams/catalog/schema.json", asJSON(t, catalogSchema(t, comments)))
	golden(t, "../../../../upstreams/catalog/part.schema.json", asJSON(t, partSchema(t, comments)))
}

// TestReferenceGolden: deploy/catalog.md has every key, variable and function.
func TestReferenceGolden(t *testing.T) {
	const file = samples + "/catalog.md"
	comments := NewComments("../../../..", "sundry")
	keys, err := Sections(comments, catalog.Shape(), catalog.PartShape(), catalog.APIShape(), declare.ShapeOf(reflect.TypeFor[catalog.Overrides]()))
	if err != nil {
		t.Fatal(err)
	}
	var variables, functions strings.Builder
	variables.WriteString("| variable | value |\n|---|---|\n")
	for _, v := range jq.Variables() {
		fmt.Fprintf(&variables, "| `%s` | %s |\n", v.Name, v.About)
	}
	functions.WriteString("| function | result | example |\n|---|---|---|\n")
	for _, f := range jq.Functions() {
		example := "`" + f.Example + "`"
		if f.Result != "" {
			example += " is `" + f.Result + "`"
		}
		fmt.Fprintf(&functions, "| `%s` | %s | %s |\n", f.Call, f.About, strings.ReplaceAll(example, "|", "\\|"))
	}
	text := readFile(t, file)
	text = between(t, text, "keys", strings.ReplaceAll(keys, "## ", "### "))
	text = between(t, text, "variables", variables.String())
	golden(t, file, between(t, text, "functions", functions.String()))
}

// between replaces what stands between the marks of a part.
func between(t *testing.T, text, part, by string) string {
	t.Helper()
	begin, end := "<!-- "+part+": made by `make golden` -->\n", "<!-- end of "+part+" -->"
	before, rest, ok := strings.Cut(text, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("deploy/catalog.md has lost the marks around %s", part)
	}
	return before + begin + by + end + after
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := plainjson.MarshalIndent(v)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimRight(string(b), "\n") + "\n"
}

func catalogSchema(t *testing.T, comments *Comments) Object {
	t.Helper()
	s := NewSchemas(comments)
	out, err := s.Document("Sundry catalog file", "One endpoint of Sundry: parameters, cache rule, forms, sources and their mappings; or with proxy a whole HTTP API as it is.", Object{
		"if": Object{"required": []string{"proxy"}}, "then": s.Of(catalog.APIShape()), "else": s.Of(catalog.Shape()),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func partSchema(t *testing.T, comments *Comments) Object {
	t.Helper()
	s := NewSchemas(comments)
	out, err := s.Document("A part of a Sundry endpoint", "Sources of an endpoint that has a folder, or what several endpoints share.", s.Of(catalog.PartShape()))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSchemaExamples: the example of every key is what the key accepts.
func TestSchemaExamples(t *testing.T) {
	seen := map[*declare.Shape]bool{}
	var visit func(s *declare.Shape)
	visit = func(s *declare.Shape) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		for i := range s.Keys {
			k := &s.Keys[i]
			text := exampleOf(k)
			if text == "" {
				t.Errorf("%s: key %s: it needs an example, as in `yaml:\"%s\" example:\"…\"`", Name(s), k.Name, k.Name)
				continue
			}
			if err := acceptsKey(s, text); err != nil {
				t.Errorf("%s: example %s: %v", Name(s), text, err)
			}
			visit(k.Shape)
		}
		visit(s.Values)
		visit(s.Items)
		for _, one := range s.Of {
			visit(one)
		}
	}
	visit(catalog.Shape())
	visit(declare.ShapeOf(reflect.TypeFor[catalog.Overrides]()))
}

// acceptsKey decodes a mapping with one key.
func acceptsKey(s *declare.Shape, text string) error {
	var problems declare.Problems
	declare.Read([]byte(text), reflect.New(s.Type).Interface(), &problems)
	if len(problems) > 0 {
		return fmt.Errorf("%v", problems)
	}
	return nil
}
