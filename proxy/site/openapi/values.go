package openapi

import (
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/plainjson"
)

// SchemaOf describes the values of an endpoint's parameter as the document in that
// language does.
func SchemaOf(e *catalog.Endpoint, p *catalog.Param, l i18n.Language) plainjson.Object {
	return (&operation{writer: &writer{Config: Config{Language: l}}, Endpoint: e}).schemaOf(p)
}

// Value is a value of a query in the type that the schema has.
func Value(p *catalog.Param, value string) any { return typed(p, value) }
