package catalog

import (
	"fmt"
	"io/fs"

	"go.yaml.in/yaml/v4"
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

// ConformanceCall is one call and what it comes to.
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

// ConformanceTable reads the specification's endpoints, in its order.
func ConformanceTable() ([]Conformance, error) {
	b, err := fs.ReadFile(builtin, "data/conformance.yaml")
	if err != nil {
		return nil, err
	}
	var table []Conformance
	if err := yaml.Load(b, &table, yaml.WithKnownFields()); err != nil {
		return nil, fmt.Errorf("conformance table: %w", err)
	}
	return table, nil
}
