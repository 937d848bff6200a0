// Package openapi describes the endpoints in OpenAPI 3.1, for generators of clients,
// for tools that try calls, and for linters. It promises that what it describes is what
// callers get: parameters come from the catalog, answers from the recorded exchanges,
// errors from the server. A description is in one language.
package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"sundry/proxy/language"
	"sundry/upstreams/catalog"
	"sundry/upstreams/plainjson"
	"sundry/upstreams/recorded"
)

// Config of a Document.
type Config struct {
	Catalog *catalog.Catalog
	// Recorded exchanges show what answers look like; nil for none.
	Recorded []*recorded.Case
	// BasePath is the prefix of all paths, such as /tools; "" for none.
	BasePath string
	// Version of the program; "" where it is not known.
	Version string
	// Contact is an e-mail address, or the URL of a page; "" for none.
	Contact string
	// Errors are one of every type.
	Errors []Error
	// Language of all descriptions.
	Language language.Language
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

// Document is a description that does not say yet where the service is reached.
type Document struct{ text []byte }

// placeholder stands for the origin of the service, until At knows it. No host has
// the name (RFC 2606).
const placeholder = "https://service.invalid"

// New describes a catalog.
func New(ctx context.Context, cfg Config) (*Document, error) {
	w := &writer{Config: cfg}
	var b bytes.Buffer
	if err := plainjson.NewEncoder(&b).Encode(w.document(ctx)); err != nil {
		return nil, fmt.Errorf("encode the OpenAPI document: %w", err)
	}
	return &Document{b.Bytes()}, nil
}

// At is the description for callers who reach the service at an origin, such as
// https://api.example.org. With "", addresses in it are relative to its own.
func (d *Document) At(origin string) []byte {
	text := d.text
	if origin == "" {
		text = bytes.ReplaceAll(text, []byte(`"`+placeholder+`"`), []byte(`"/"`))
	}
	return bytes.ReplaceAll(text, []byte(placeholder), []byte(origin))
}

// writer writes a description.
type writer struct{ Config }

// say is the text in the description's language.
func (w *writer) say(en, zh string) string {
	if w.Language == language.Chinese {
		return zh
	}
	return en
}

// address is that of a path below the base path.
func (w *writer) address(path string) string { return placeholder + w.BasePath + path }

func (w *writer) document(ctx context.Context) plainjson.Object {
	var paths, schemas plainjson.Object
	for _, e := range w.Catalog.Endpoints {
		o := &operation{writer: w, Endpoint: e, sample: recorded.SampleOf(ctx, e, w.Recorded), texts: recorded.Texts(ctx, e, w.Recorded)}
		paths = append(paths, plainjson.Member{Name: "/api/" + e.Name, Value: object{"get": o.describe()}})
		schemas = append(schemas, o.schemas()...)
	}
	return plainjson.Object{
		{Name: "openapi", Value: "3.1.0"},
		{Name: "info", Value: w.info()},
		{Name: "externalDocs", Value: externalDocs{w.address("/docs"), w.say("The reference for people, with forms to try calls.", "供人阅读的参考文档，可在页面上试用。")}},
		{Name: "servers", Value: []any{object{"url": w.address(""), "description": w.say("This service.", "本服务。")}}},
		{Name: "security", Value: []any{}}, // no endpoint needs a key
		{Name: "tags", Value: w.tags()},
		{Name: "paths", Value: paths},
		{Name: "components", Value: w.components(schemas)},
	}
}

// object is a JSON object whose members have no order.
type object = map[string]any

type externalDocs struct {
	URL         string `json:"url"`
	Description string `json:"description"`
}
