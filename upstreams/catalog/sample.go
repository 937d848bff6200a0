package catalog

import (
	"context"
	"encoding/json"

	"sundry/upstreams"
)

// Sample is what an endpoint's JSON answers look like, by its recorded
// exchanges.
type Sample struct {
	// Data of one answer, the first source's ordinary one; nil for none.
	Data any
	// Shape of all of them.
	Shape *Shape
}

// Sample presents the recorded data of the JSON form. An endpoint without such
// a form, or without recorded data, has an empty one.
func (e *Endpoint) Sample(ctx context.Context, cases []*Case) Sample {
	sample := Sample{Shape: &Shape{}}
	form := e.jsonForm()
	if form == nil {
		return sample
	}
	for _, src := range form.chain.Sources {
		for _, c := range CasesOf(cases, e.Name, src.Bare()) {
			if c.Want != "success" {
				continue
			}
			for i, data := range form.present(ctx, c) {
				sample.Shape.Add(data)
				if i == 0 && (sample.Data == nil || c.Name == "good" && src == form.chain.Sources[0]) {
					sample.Data = data
				}
			}
		}
	}
	return sample
}

// jsonForm finds the form that is JSON, if any.
func (e *Endpoint) jsonForm() *Form {
	for _, f := range e.Forms {
		if f.Kind == "json" {
			return f
		}
	}
	return nil
}

// present makes what callers see of a recorded answer: several of a pool.
func (f *Form) present(ctx context.Context, c *Case) []any {
	var data any
	if json.Unmarshal(c.WantJSON, &data) != nil || data == nil {
		return nil
	}
	env := &upstreams.Env{Params: c.Params, Now: c.Now}
	candidates := []any{data}
	if f.each != nil {
		candidates = nil
		_ = f.each.Each(ctx, data, env, func(v any) bool { // what cannot be presented shows no sample
			candidates = append(candidates, v)
			return len(candidates) < 20
		})
	}
	var out []any
	for _, v := range candidates {
		if made, err := f.make.One(ctx, v, env); err == nil {
			out = append(out, made)
		}
	}
	return out
}
