package pages

import (
	"net/http"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
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
