package upstreams

import (
	"context"

	"go.yaml.in/yaml/v4"
)

// ComputedSpec makes data of the parameters alone: the source's map does it
// all, on an empty object.
type ComputedSpec struct{}

type computed struct{}

func compileComputed(c *Compiler, section *yaml.Node) Compiled {
	c.Decode(section, &ComputedSpec{})
	return Compiled{Fetcher: computed{}}
}

// Fetch implements Fetcher.
func (computed) Fetch(context.Context, *input) (*reply, error) {
	return &reply{body: map[string]any{}}, nil
}
