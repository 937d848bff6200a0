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
	// Data of one answer, of those that leave least unknown the first source's ordinary
	// one; nil for none.
	Data any
	// Answer is the JSON with that data, as callers get it.
	Answer []byte
	// Shape of all of them.
	Shape *Shape
}

// SampleOf presents the recorded data of the JSON form. An endpoint without such
// a form, or without recorded data, has an empty one.
func SampleOf(ctx context.Context, e *catalog.Endpoint, cases []*Case) Sample {
	sample, least := Sample{Shape: &Shape{}}, 0
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
				n, ordinary := unknown(data), c.Name == "good" && src == form.Chain.Sources[0]
				if i == 0 && (sample.Data == nil || n < least || n == least && ordinary) {
					sample.Data, least = data, n
				}
			}
		}
	}
	if sample.Data != nil {
		sample.Answer, _ = form.Answer(sample.Data) // what came out of JSON can be written as JSON
	}
	return sample
}

// Texts are what the text and markdown forms answer, by form: of the first source's
// ordinary exchange, or else of any. A form without a recorded exchange has none.
func Texts(ctx context.Context, e *catalog.Endpoint, cases []*Case) map[string]string {
	out := map[string]string{}
	for _, f := range e.Forms {
		if f.Kind != "text" && f.Kind != "markdown" {
			continue
		}
		for _, src := range f.Chain.Sources {
			for _, c := range CasesOf(cases, e.Name, src.Declared) {
				if out[f.Name] == "" || c.Name == "good" && src == f.Chain.Sources[0] {
					out[f.Name] = textOf(ctx, f, c)
				}
			}
		}
	}
	return out
}

// textOf is what a form says of a recorded answer; "" for one that is no success.
func textOf(ctx context.Context, f *catalog.Form, c *Case) string {
	var data any
	if c.Want != "success" || json.Unmarshal(c.WantJSON, &data) != nil || data == nil {
		return ""
	}
	text, err := f.Text(ctx, data, &jq.Env{Params: c.Params, Now: c.Now})
	if err != nil {
		return "" // a test renders every form of every case
	}
	return text
}

// unknown counts the fields of an answer that are null.
func unknown(data any) int {
	n := 0
	object, _ := data.(map[string]any)
	for _, v := range object {
		if v == nil {
			n++
		}
	}
	return n
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
