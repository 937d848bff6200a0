// Package openapi describes the endpoints in OpenAPI 3.1, for generators of clients,
// for tools that try calls, and for linters. It promises that what it describes is what
// callers get: parameters come from the catalog, answers from the recorded exchanges,
// errors from the server. A description is in one language.
package openapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
	"sundry/upstreams/fixtures"
	"sundry/upstreams/lib/plainjson"
)

// Config of a Document.
type Config struct {
	Catalog *catalog.Catalog
	// Recorded exchanges show what answers look like; nil for none.
	Recorded []*fixtures.Case
	// PublicURL is the origin at which callers reach the service, such as
	// https://api.example.org. With "", the description has no links to the reference, since
	// those must be absolute (section 4.8.22 of OpenAPI 3.1), and calls name ExampleOrigin.
	PublicURL string
	// BasePath is the prefix of all paths, such as /tools; "" for none.
	BasePath string
	// Version of the program; "" where it is not known.
	Version string
	// Contact is an e-mail address, or the URL of a page; "" for none.
	Contact string
	// Errors are one of every type.
	Errors []Error
	// Language of all descriptions.
	Language i18n.Language
}

// Error is an example of an error answer.
type Error struct {
	// Type is one of the closed list.
	Type string
	// Status of the answer.
	Status int
	// Body is the answer as JSON.
	Body json.RawMessage
	// Message is the answer as text.
	Message string
}

// ExampleOrigin stands for the service in calls where nobody knows its address (RFC 2606).
const ExampleOrigin = "https://sundry.example"

// New is the description of a catalog, as JSON.
func New(ctx context.Context, cfg Config) ([]byte, error) {
	w := &writer{Config: cfg}
	var b bytes.Buffer
	if err := plainjson.NewEncoder(&b).Encode(w.document(ctx)); err != nil {
		return nil, fmt.Errorf("encode the OpenAPI document: %w", err)
	}
	return b.Bytes(), nil
}

// writer writes a description.
type writer struct{ Config }

// say is the text in the description's language.
func (w *writer) say(en, zh string) string {
	if w.Language == i18n.Chinese {
		return zh
	}
	return en
}

// server is where clients send calls: to the origin that the description came from, unless
// the settings name another.
func (w *writer) server() string { return cmp.Or(w.PublicURL+w.BasePath, "/") }

// reference links a page of the reference for people, if the settings say where it is.
func (w *writer) reference(path, description string) plainjson.Object {
	if w.PublicURL == "" {
		return nil
	}
	return plainjson.Object{{Name: "externalDocs", Value: object{"url": w.PublicURL + w.BasePath + path, "description": description}}}
}

func (w *writer) document(ctx context.Context) plainjson.Object {
	var paths, schemas plainjson.Object
	for _, e := range w.Catalog.Endpoints {
		o := &operation{writer: w, Endpoint: e, sample: fixtures.SampleOf(ctx, e, w.Recorded), texts: fixtures.Texts(ctx, e, w.Recorded)}
		paths = append(paths, plainjson.Member{Name: "/api/" + e.Name, Value: object{"get": o.describe()}})
		schemas = append(schemas, o.schemas()...)
	}
	head := plainjson.Object{{Name: "openapi", Value: "3.1.0"}, {Name: "info", Value: w.info()}}
	return append(append(head, w.reference("/docs", w.say("The reference for people, with forms to try calls.", "供人阅读的参考文档，可在页面上试用。"))...), plainjson.Object{
		{Name: "servers", Value: []any{object{"url": w.server(), "description": w.say("This service.", "本服务。")}}},
		{Name: "security", Value: []any{}}, // no endpoint needs a key
		{Name: "tags", Value: w.tags()},
		{Name: "paths", Value: paths},
		{Name: "components", Value: w.components(schemas)},
	}...)
}

// object is a JSON object whose members have no order.
type object = map[string]any
