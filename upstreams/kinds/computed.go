package kinds

import (
	"context"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams"
)

// ComputedSpec declares a source whose data is computed, from the parameters and what its steps
// have got, by its map program, which gets an empty object.
type ComputedSpec struct{}

func compileComputed(c *upstreams.Compiler, section *yaml.Node) upstreams.Compiled {
	c.Decode(section, &ComputedSpec{})
	return upstreams.Compiled{Fetch: func(context.Context, *upstreams.Attempt) (*upstreams.Reply, error) {
		return &upstreams.Reply{Body: map[string]any{}}, nil
	}}
}
