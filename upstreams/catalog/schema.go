package catalog

import (
	_ "embed"
	"reflect"
	"sync"

	"sundry/upstreams/declare"
)

// schema is made by a test of the types that files are decoded into.
//
//go:embed schema.json
var schema []byte

//go:embed part.schema.json
var partSchema []byte

// PartSchema is the JSON Schema of the files beside endpoint.yaml, and of shared ones. It
// is not to be changed.
func PartSchema() []byte { return partSchema }

// PartShape is that of such a file.
func PartShape() *declare.Shape { return partShape() }

// Schema is the JSON Schema of catalog files. It is not to be changed.
func Schema() []byte { return schema }

// APIShape is that of a catalog file with proxy:.
func APIShape() *declare.Shape { return declare.ShapeOf(reflect.TypeFor[apiSpec]()) }

// Shape is that of any other catalog file.
func Shape() *declare.Shape { return endpointShape() }

// A catalog has many files of these shapes.
var (
	partShape     = sync.OnceValue(func() *declare.Shape { return declare.ShapeOf(reflect.TypeFor[partSpec]()) })
	endpointShape = sync.OnceValue(func() *declare.Shape { return declare.ShapeOf(reflect.TypeFor[endpointSpec]()) })
)
