package upstreams

import "context"

// ComputedSpec makes data of the parameters alone: the source's map does it
// all, on an empty object.
type ComputedSpec struct{}

type computed struct{}

// fetch implements fetcher.
func (computed) fetch(context.Context, *input) (*reply, error) {
	return &reply{body: map[string]any{}}, nil
}
