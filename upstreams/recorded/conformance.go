package recorded

import (
	_ "embed"
	"errors"
	"sync"
	"unicode/utf8"

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
	// EN and ZH are the titles of a call that is shown as an example; "" for others.
	EN string `yaml:"en"`
	ZH string `yaml:"zh"`
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

// Title is the call's title in both languages; "" if it is no example.
func (c *ConformanceCall) Title() string {
	switch first, _ := utf8.DecodeRuneInString(c.ZH); {
	case c.EN == c.ZH:
		return c.EN
	case first < utf8.RuneSelf: // else it would read as a part of the English one
		return c.EN + "（" + c.ZH + "）"
	}
	return c.EN + " " + c.ZH
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
