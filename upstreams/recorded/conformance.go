package recorded

import (
	_ "embed"
	"errors"
	"sync"

	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
)

// Conformance is an endpoint of the specification with the calls that it must
// answer.
type Conformance struct {
	Endpoint string `yaml:"endpoint"`
	// Section of the specification.
	Section string `yaml:"section"`
	// Params by name: their type in the specification, and optional or
	// required.
	Params map[string][]string `yaml:"params"`
	Calls  []ConformanceCall   `yaml:"calls"`
}

// ConformanceCall is one call and the answer that is expected.
type ConformanceCall struct {
	// Query as sent.
	Query string `yaml:"query"`
	// As is the summary of a call that is shown as an example; "" for others.
	As string `yaml:"as"`
	// Status; 0 means 200.
	Status int `yaml:"status"`
	// Type that the content type begins with; "" for any.
	Type string `yaml:"type"`
	// Is is a jq condition on the data, the text, or the picture's measures;
	// "" for none.
	Is string `yaml:"is"`
	// To is a pattern of a redirect's Location; "" for none.
	To string `yaml:"to"`
}

//go:embed conformance.yaml
var conformance []byte

// conformanceTable is read once, when it is first asked for.
var conformanceTable = sync.OnceValues(readConformance)

// ConformanceTable are the specification's endpoints, in its order. What it
// returns is not to be changed.
func ConformanceTable() ([]Conformance, error) { return conformanceTable() }

func readConformance() ([]Conformance, error) {
	var table []Conformance
	var problems declare.Problems
	declare.Read(conformance, &table, &problems)
	return table, errors.Join(catalog.Mistakes("conformance.yaml", problems)...)
}
