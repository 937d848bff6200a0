package openapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/getkin/kin-openapi/openapi3"

	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
	"sundry/upstreams/catalog/catalogtest"
	"sundry/upstreams/envtest"
	"sundry/upstreams/fixtures"
	"sundry/upstreams/lib/plainjson"
	"sundry/upstreams/replay"
)

// described is a catalog, with its recorded exchanges.
type described struct {
	*catalog.Catalog
	cases []*fixtures.Case
}

// builtin is the catalog that is embedded, compiled once for all tests.
func builtin(t *testing.T) *described {
	t.Helper()
	d, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var compiled = sync.OnceValues(func() (*described, error) {
	env := envtest.Bare()
	env.Data, env.Replay = catalog.Data(""), replay.New(nil)
	c, err := catalog.Load(catalog.Options{}, env)
	if err != nil {
		return nil, err
	}
	return withCases(c)
})

// load loads the catalog that is embedded, with files of one's own.
func load(t *testing.T, own map[string]string) *described {
	t.Helper()
	d, err := withCases(catalogtest.Load(t, own))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func withCases(c *catalog.Catalog) (*described, error) {
	cases, err := fixtures.BuiltinCases()
	if err != nil {
		return nil, err
	}
	cases, err = fixtures.ReadyFor(c, cases)
	return &described{c, cases}, err
}

// document is the description of the endpoints.
func (d *described) document(t *testing.T, change func(*Config)) []byte {
	t.Helper()
	cfg := Config{API: apidoc.New(d.Catalog, func(*catalog.Catalog) []*fixtures.Case { return d.cases }), Errors: []apidoc.Error{{Type: "not_found", Status: http.StatusNotFound, Body: json.RawMessage(`{"code":404,"message":"not found","error":{"type":"not_found","request_id":"1"}}`), Message: "not found"}}}
	if change != nil {
		change(&cfg)
	}
	made, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// parse is the document, which is valid.
func parse(t *testing.T, text []byte) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestEveryEndpointIsComplete: bounds, defaults, examples and descriptions of all
// parameters, an example of all answers that are text, a schema of all data.
func TestEveryEndpointIsComplete(t *testing.T) {
	c := builtin(t)
	doc := parse(t, c.document(t, func(c *Config) { c.PublicURL = "https://api.example.org" }))
	for _, e := range c.Endpoints {
		item := doc.Paths.Find("/api/" + e.Name)
		if item == nil || item.Get == nil {
			t.Errorf("%s: not described", e.Name)
			continue
		}
		for _, p := range item.Get.Parameters {
			checkParameter(t, e, p.Value)
		}
		for typ, media := range item.Get.Responses.Status(http.StatusOK).Value.Content {
			said := typ == "application/json" || typ == "text/plain" || typ == "text/markdown"
			if said && media.Example == nil {
				t.Errorf("%s: no example of %s", e.Name, typ)
			}
			if typ == "application/json" && len(media.Schema.Value.Properties["data"].Value.Properties) == 0 {
				t.Errorf("%s: no schema of data", e.Name)
			}
		}
	}
}

func checkParameter(t *testing.T, e *catalog.Endpoint, p *openapi3.Parameter) {
	t.Helper()
	s := p.Schema.Value
	if len(p.Examples) == 0 || p.Description == "" {
		t.Errorf("%s: parameter %s has no example or description", e.Name, p.Name)
	}
	if s.Type.Is("integer") && s.Min == nil && len(s.AnyOf) == 0 {
		t.Errorf("%s: parameter %s has no bounds", e.Name, p.Name)
	}
	for _, declared := range e.Params {
		if declared.Name != p.Name {
			continue
		}
		if marked := p.Extensions["x-personal"] != nil; marked != declared.Personal {
			t.Errorf("%s: parameter %s: marked as personal: %v", e.Name, p.Name, marked)
		}
		if _, chooses := declared.FormOf(e.Forms[0].Name); chooses && s.Default == nil {
			t.Errorf("%s: parameter %s has no default", e.Name, p.Name)
		}
	}
}

// TestFormsInWords: no Latin word touches a Chinese one.
func TestFormsInWords(t *testing.T) {
	c := load(t, nil)
	doc := parse(t, c.document(t, func(c *Config) { c.Language = i18n.Chinese }))
	for endpoint, want := range map[string]string{"60s": "默认：JSON；", "avatar": "默认：图片；"} {
		if about := doc.Paths.Find("/api/" + endpoint).Get.Description; !strings.Contains(about, want) {
			t.Errorf("%s: no %s in %s", endpoint, want, about)
		}
	}
}

// TestEveryFieldIsDescribed: each field of each answer, and of errors, says what it is, in
// the language of the document and no other.
func TestEveryFieldIsDescribed(t *testing.T) {
	c := builtin(t)
	for _, l := range i18n.All() {
		doc := parse(t, c.document(t, func(c *Config) { c.Language = l }))
		count := 0
		for name, s := range doc.Components.Schemas {
			count += checkFields(t, l, name, s)
		}
		if count < 271 {
			t.Errorf("%v: only %d fields were found", l, count)
		}
	}
}

// TestTextsAreInTheLanguageOfTheDocument: as callers get them.
func TestTextsAreInTheLanguageOfTheDocument(t *testing.T) {
	c := builtin(t)
	for l, want := range map[i18n.Language]string{i18n.English: "Birthday: 1980-05-05", i18n.Chinese: "生日：1980-05-05"} {
		doc := parse(t, c.document(t, func(c *Config) { c.Language = l }))
		example := fmt.Sprint(doc.Paths.Find("/api/sfz").Get.Responses.Status(http.StatusOK).Value.Content["text/plain"].Example)
		if !strings.Contains(example, want) {
			t.Errorf("%v: %s", l, example)
		}
	}
}

// checkFields checks the fields below a schema, and counts them.
func checkFields(t *testing.T, l i18n.Language, path string, s *openapi3.SchemaRef) (count int) {
	t.Helper()
	if s.Value.Items != nil {
		count += checkFields(t, l, path+"[]", s.Value.Items)
	}
	for name, field := range s.Value.Properties {
		at := path + "." + name
		about := field.Value.Description
		if about == "" {
			t.Errorf("%v: %s: no description", l, at)
		}
		if written(about) != l {
			t.Errorf("%v: %s: described as %q", l, at, about)
		}
		if count++; field.Ref == "" {
			count += checkFields(t, l, at, field)
		}
	}
	return count
}

// written is the language of a text. English may quote names, without Chinese punctuation.
func written(text string) i18n.Language {
	han := strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
	if quoted := strings.Contains(text, " ") && !strings.ContainsAny(text, "。，；：、"); han && (!quoted || unicode.Is(unicode.Han, []rune(text)[len([]rune(text))-1])) {
		return i18n.Chinese
	}
	return i18n.English
}

// TestSchemasHaveFieldsInTheirOrder: in that of the file, which is that of answers.
func TestSchemasHaveFieldsInTheirOrder(t *testing.T) {
	c := builtin(t)
	var doc struct {
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal(c.document(t, nil), &doc); err != nil {
		t.Fatal(err)
	}
	for _, e := range c.Endpoints {
		schema := string(doc.Components.Schemas[schemaName(e.Name, "Data")])
		at := strings.Index(schema, `"properties":`)
		for _, f := range e.Fields {
			here := strings.Index(schema[max(at, 0):], `"`+f.Name+`":{"description"`)
			if here < 0 {
				t.Errorf("%s.%s: not described behind the field before it", e.Name, f.Name)
				break
			}
			at += here + 1
		}
	}
}

// TestServers: the document names the service as the settings do. Where they do not, calls go
// to where the document came from, and nothing is linked: such links must be absolute.
func TestServers(t *testing.T) {
	c := builtin(t)
	for _, row := range []struct{ origin, base, server, docs, call string }{
		{"https://api.example.org", "", "https://api.example.org", "https://api.example.org/docs", "https://api.example.org/api/ip"},
		{"http://127.0.0.1:8080", "/tools", "http://127.0.0.1:8080/tools", "http://127.0.0.1:8080/tools/docs", "http://127.0.0.1:8080/tools/api/ip"},
		{"", "/tools", "/tools", "", ""},
		{"", "", "/", "", ""},
	} {
		doc := parse(t, c.document(t, func(c *Config) { c.PublicURL, c.BasePath = row.origin, row.base }))
		if got := doc.Servers[0].URL; got != row.server {
			t.Errorf("%+v: server %s", row, got)
		}
		ip := doc.Paths.Find("/api/ip").Get
		if row.docs == "" {
			if doc.ExternalDocs != nil || ip.ExternalDocs != nil {
				t.Errorf("%+v: linked %+v, %+v", row, doc.ExternalDocs, ip.ExternalDocs)
			}
		} else if doc.ExternalDocs.URL != row.docs || ip.ExternalDocs.URL != row.docs+"/ip" {
			t.Errorf("%+v: linked %+v, %+v", row, doc.ExternalDocs, ip.ExternalDocs)
		}
		samples, ok := ip.Extensions["x-codeSamples"]
		if got := fmt.Sprint(samples); ok != (row.call != "") || !strings.Contains(got, row.call) {
			t.Errorf("%+v: calls %s", row, got)
		}
	}
}

// TestContact: a page or an address, as the settings say.
func TestContact(t *testing.T) {
	for contact, want := range map[string]string{
		"":                          `{"name":"The operator of this service"}`,
		"https://example.org/about": `{"name":"The operator of this service","url":"https://example.org/about"}`,
		"ops@example.org":           `{"name":"The operator of this service","email":"ops@example.org"}`,
	} {
		w := &writer{Config: Config{Contact: contact}}
		if got, err := json.Marshal(w.contact()); err != nil || string(got) != want {
			t.Errorf("%q: %s, %v", contact, got, err)
		}
	}
}

// TestGroupOfOnesOwn: it is a tag, after the built-in ones.
func TestGroupOfOnesOwn(t *testing.T) {
	c := load(t, map[string]string{"joke": "version: 1\nname: joke\ngroup: {name: fun, en: Fun & games, zh: 趣味}\nsummary: {en: A joke., zh: 笑话}\ncache: {class: shared, ttl: 1h}\n" +
		"forms: [{name: json, json: .}]\nsources: [{name: made, computed: {}, map: '{joke: 1}'}]\n"})
	doc := parse(t, c.document(t, nil))
	last := doc.Tags[len(doc.Tags)-1]
	if last.Name != "fun" || last.Description != "Fun & games" {
		t.Errorf("the last tag is %+v", last)
	}
	if doc.Paths.Find("/api/joke").Get.Responses.Status(http.StatusOK) == nil {
		t.Error("an endpoint without recorded exchanges has no answer")
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"ip": "getIp IpData", "60s": "get60s Data60s", "daily-news": "getDailyNews DailyNewsData", "a-1": "getA_1 A_1Data", "a1": "getA1 A1Data", "a--b": "getA_B A_BData", "a-": "getA_ A_Data",
	} {
		if got := operationID(name) + " " + schemaName(name, "Data"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for title, want := range map[string]string{"As text": "as_text", "An IPv4 address": "an_ipv4_address", "?type=svg": "type_svg"} {
		if got := exampleName(title, nil); got != want {
			t.Errorf("%s: %s, want %s", title, got, want)
		}
	}
	for title, want := range map[string]string{"As-text": "as_text_2", "默认": "call_2"} {
		if got := exampleName(title, plainjson.Object{{Name: "as_text"}}); got != want {
			t.Errorf("%s beside as_text: %s, want %s", title, got, want)
		}
	}
}
