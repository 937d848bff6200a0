package openapi

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
	"sundry/upstreams/fixtures"
	"sundry/upstreams/jq"
)

// TestEveryRecordedAnswerIsAsDescribed: what each source was ever recorded to answer is
// valid by the schema of its endpoint, with all formats, and so are the examples.
func TestEveryRecordedAnswerIsAsDescribed(t *testing.T) {
	c := builtin(t)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(c.document(t, func(c *Config) { c.Language = i18n.Chinese })))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiler.AddResource("openapi.json", document); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, e := range c.Endpoints {
		for _, f := range e.Forms {
			if f.Kind != "json" {
				continue
			}
			schema, err := compiler.Compile("openapi.json#/components/schemas/" + schemaName(e.Name, "Answer"))
			if err != nil {
				t.Fatal(err)
			}
			for _, answer := range answers(t, c, e, f) {
				v, err := jsonschema.UnmarshalJSON(bytes.NewReader(answer))
				if err != nil {
					t.Fatal(err)
				}
				if err := schema.Validate(v); err != nil {
					t.Errorf("%s: %v\n%s", e.Name, err, answer)
				}
				checked++
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d answers were found", checked)
	}
}

// answers are the JSON answers of each recorded success, up to a thousand of a pool.
func answers(t *testing.T, c *described, e *catalog.Endpoint, f *catalog.Form) [][]byte {
	t.Helper()
	var all [][]byte
	for _, src := range f.Chain.Sources {
		for _, x := range fixtures.CasesOf(c.cases, e.Name, src.Declared) {
			var data any
			if x.Want != "success" || json.Unmarshal(x.WantJSON, &data) != nil || data == nil {
				continue
			}
			for _, seen := range f.Present(t.Context(), data, &jq.Env{Params: x.Params, Now: x.Now}, 1000) {
				answer, err := f.Answer(seen)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, answer)
			}
		}
	}
	return all
}
