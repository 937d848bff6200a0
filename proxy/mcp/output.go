package mcp

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"

	"sundry/proxy/site/apidoc"
	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/plainjson"
)

// outputSchema describes structured results: an object with a member for what was asked
// for. None is required, because data that is not as it is described here comes as text.
func (t *tool) outputSchema(e *catalog.Endpoint, sample apidoc.Sample) ([]byte, error) {
	members := ordered{}
	add := func(name string, schema any) {
		members = append(members, plainjson.Member{Name: name, Value: schema})
	}
	if t.offers(apidoc.JSON) {
		data, err := t.dataSchema(e, sample)
		if err != nil {
			return nil, err
		}
		add("data", data)
	}
	add("text", object{"type": "string", "description": t.Say("The answer as text.", "文本形式的响应。")})
	if t.offers(apidoc.Picture) {
		add("image", object{
			"type": "object", "description": t.Say("The picture in the content.", "content 中的图片。"), "required": []string{"type", "bytes"},
			"properties": ordered{{Name: "type", Value: object{"type": "string"}}, {Name: "bytes", Value: object{"type": "integer"}}},
		})
	}
	if t.offers(apidoc.Picture) || t.offers(apidoc.Redirect) {
		add("link", object{"type": "string", "description": t.Say("Where the answer is.", "响应所在的地址。")})
	}
	return plainjson.Marshal(object{"type": "object", "properties": members})
}

// dataSchema is the schema of the data in the OpenAPI document, but for formats: clients
// refuse results that are not as described, and a format says what a text is for, not
// what it holds.
func (t *tool) dataSchema(e *catalog.Endpoint, sample apidoc.Sample) (*jsonschema.Schema, error) {
	b, err := plainjson.Marshal(sample.Shape.Schema(e.Fields, t.Say))
	if err != nil {
		return nil, err
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(b, &schema); err != nil {
		return nil, err
	}
	dropFormats(&schema)
	t.data, err = schema.Resolve(nil)
	return &schema, err
}

func dropFormats(schema *jsonschema.Schema) {
	schema.Format = ""
	if schema.Items != nil {
		dropFormats(schema.Items)
	}
	for _, p := range schema.Properties {
		dropFormats(p)
	}
}

// describes reports whether data is as the output schema says.
func (t *tool) describes(data json.RawMessage) bool {
	if t.data == nil {
		return false
	}
	var v any
	return json.Unmarshal(data, &v) == nil && t.data.Validate(v) == nil
}
