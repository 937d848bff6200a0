package recorded

import (
	"context"
	"encoding/json"

	"sundry/upstreams/catalog"
	"sundry/upstreams/jq"
)

// maxSamples is how many candidates of a pool are sampled.
const maxSamples = 20

// Sample is what an endpoint's JSON answers look like, by its recorded
// exchanges.
type Sample struct {
	// Data of one answer, the first source's ordinary one; nil for none.
	Data any
	// Answer is the JSON with that data, as callers get it.
	Answer []byte
	// Shape of all of them.
	Shape *Shape
}

// SampleOf presents the recorded data of the JSON form. An endpoint without such
// a form, or without recorded data, has an empty one.
func SampleOf(ctx context.Context, e *catalog.Endpoint, cases []*Case) Sample {
	sample := Sample{Shape: &Shape{}}
	form := jsonForm(e)
	if form == nil {
		return sample
	}
	for _, src := range form.Chain.Sources {
		for _, c := range CasesOf(cases, e.Name, src.Declared) {
			if c.Want != "success" {
				continue
			}
			for i, data := range present(ctx, form, c) {
				sample.Shape.values().Add(data)
				if i == 0 && (sample.Data == nil || c.Name == "good" && src == form.Chain.Sources[0]) {
					sample.Data = data
				}
			}
		}
	}
	if sample.Data != nil {
		sample.Answer, _ = form.Answer(sample.Data) // what came out of JSON can be written as JSON
	}
	return sample
}

// jsonForm finds the form that is JSON, if any.
func jsonForm(e *catalog.Endpoint) *catalog.Form {
	for _, f := range e.Forms {
		if f.Kind == "json" {
			return f
		}
	}
	return nil
}

// present makes what callers see of a recorded answer: several of a pool.
func present(ctx context.Context, f *catalog.Form, c *Case) []any {
	var data any
	if json.Unmarshal(c.WantJSON, &data) != nil || data == nil {
		return nil
	}
	return f.Present(ctx, data, &jq.Env{Params: c.Params, Now: c.Now}, maxSamples)
}
