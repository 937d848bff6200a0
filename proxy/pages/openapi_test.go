package pages

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
)

// TestOpenAPIIsComplete: every endpoint, with bounds, enums, examples and a
// schema of its data.
func TestOpenAPIIsComplete(t *testing.T) {
	c := builtin(t)
	doc, err := openapi3.NewLoader().LoadFromData([]byte(textOf(pageOf(t, c, OpenAPIPath))))
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, e := range c.Endpoints {
		item := doc.Paths.Find("/api/" + e.Name + "/index.php")
		if item == nil || item.Get == nil {
			t.Errorf("%s: not described", e.Name)
			continue
		}
		for _, p := range item.Get.Parameters {
			s := p.Value.Schema.Value
			if len(p.Value.Examples) == 0 || p.Value.Description == "" {
				t.Errorf("%s: parameter %s has no example or description", e.Name, p.Value.Name)
			}
			if s.Type.Is("integer") && s.Min == nil && len(s.AnyOf) == 0 {
				t.Errorf("%s: parameter %s has no bounds", e.Name, p.Value.Name)
			}
		}
		ok := item.Get.Responses.Status(http.StatusOK)
		if media := ok.Value.Content["application/json"]; media != nil {
			data := media.Schema.Value.Properties["data"].Value
			if media.Example == nil || len(data.Properties) == 0 {
				t.Errorf("%s: no example or schema of data", e.Name)
			}
		}
	}
}

// decoded is an object inside a document, and its members' names in order.
func decoded(t *testing.T, document string, at ...string) (names []string, value map[string]any) {
	t.Helper()
	raw := json.RawMessage(document)
	for _, name := range at {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(raw, &members); err != nil || members[name] == nil {
			t.Fatalf("%s: %v", name, err)
		}
		raw = members[name]
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	for depth := 0; ; {
		token, err := d.Token()
		if err != nil {
			break
		}
		if delim, ok := token.(json.Delim); ok {
			depth += strings.Count("{[", delim.String()) - strings.Count("}]", delim.String())
			continue
		}
		if name, ok := token.(string); ok && depth == 1 {
			names = append(names, name)
			var skipped json.RawMessage
			if err := d.Decode(&skipped); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	return names, value
}

// TestSchemasDescribeFields: the data of an answer is described as its file
// declares it: in that order, every field required, with what it means and is.
func TestSchemasDescribeFields(t *testing.T) {
	c := builtin(t)
	text := textOf(pageOf(t, c, OpenAPIPath))
	data := func(endpoint string, below ...string) []string {
		return append([]string{"paths", "/api/" + endpoint + "/index.php", "get", "responses", "200", "content", "application/json", "schema", "properties", "data"}, below...)
	}
	for _, e := range c.Endpoints {
		var want []string
		for _, f := range e.Fields {
			want = append(want, f.Name)
		}
		if want == nil {
			continue
		}
		names, _ := decoded(t, text, data(e.Name, "properties")...)
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%s: %s", e.Name, diff)
		}
		if _, schema := decoded(t, text, data(e.Name)...); len(schema["required"].([]any)) != len(want) {
			t.Errorf("%s: required are %v", e.Name, schema["required"])
		}
		for _, f := range e.Fields {
			_, schema := decoded(t, text, data(e.Name, "properties", f.Name)...)
			if got := schema["description"]; got != f.EN+" "+f.ZH {
				t.Errorf("%s.%s: described as %v", e.Name, f.Name, got)
			}
		}
	}
	if _, schema := decoded(t, text, data("sfz", "properties", "birthday")...); schema["format"] != "date" {
		t.Errorf("sfz.birthday: %v", schema)
	}
}
