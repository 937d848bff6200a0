package pages

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"sundry/upstreams/catalog"
	"sundry/upstreams/recorded"
)

// object is a JSON object that is written once and read by others.
type object = map[string]any

// renderOpenAPI describes the set in OpenAPI 3.1. What answers look like comes
// from the recorded exchanges, examples from the table of the specification.
func renderOpenAPI(ctx context.Context, c *catalog.Catalog, cases []*recorded.Case, base string, errorTypes []string) ([]byte, error) {
	if _, err := recorded.Exchanges(c, cases); err != nil { // which makes their parameters canonical
		return nil, err
	}
	paths := object{}
	for _, e := range c.Endpoints {
		d := described{e, recorded.SampleOf(ctx, e, cases)}
		paths["/api/"+e.Name+"/index.php"] = object{"get": d.operation()}
	}
	doc := object{
		"openapi": "3.1.0",
		"info": object{"title": "Sundry", "version": "1", "summary": "Public, read-only utility endpoints.",
			"description": "Every endpoint is called with GET. Unknown parameters are ignored; of a repeated one the first counts; an empty one counts as absent. A query holds at most 256. " +
				"The path may also end in the endpoint's name, with or without a slash."},
		"servers":    []any{object{"url": cmp.Or(base, "/")}},
		"tags":       tags(),
		"paths":      paths,
		"components": components(errorTypes),
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return b.Bytes(), nil
}

// tags are the specification's groups.
func tags() []any {
	var out []any
	for _, g := range catalog.Groups() {
		out = append(out, object{"name": g.Name, "description": g.EN + " " + g.ZH})
	}
	return out
}

// described is an endpoint with what is known of its answers and calls.
type described struct {
	*catalog.Endpoint
	sample recorded.Sample
}

func (d *described) operation() object {
	op := object{
		"operationId": d.Name, "tags": []string{d.Group}, "summary": d.EN, "description": d.ZH,
		"parameters": d.parameters(), "responses": d.responses(),
	}
	var calls []any
	for _, c := range recorded.Calls(d.Endpoint) {
		calls = append(calls, object{"summary": c.As, "query": c.Query})
	}
	op["x-examples"] = calls
	return op
}

func (d *described) responses() object {
	content := object{}
	responses := object{"default": object{"$ref": "#/components/responses/Error"}}
	for _, f := range d.Forms {
		switch {
		case f.Kind == "json":
			content["application/json"] = d.envelope()
		case f.Kind == "text":
			content["text/plain"] = object{"schema": object{"type": "string"}}
		case f.Kind == "picture", f.Through != nil:
			content["image/*"] = object{}
		case f.Kind == "interstitial":
			content["text/html"] = object{"schema": object{"type": "string"}}
		case f.Kind == "redirect":
			responses["302"] = object{"$ref": "#/components/responses/Redirect"}
		}
	}
	if slices.ContainsFunc(d.Params, func(p *catalog.Param) bool { return p.Role == "callback" }) {
		content["text/javascript"] = object{"schema": object{"type": "string"}}
	}
	if len(content) > 0 {
		responses["200"] = object{"description": d.forms(), "headers": answerHeaders(), "content": content}
	}
	for _, status := range d.failures() {
		responses[status] = object{"$ref": "#/components/responses/" + failureNamed(status)}
	}
	return responses
}

// failureNamed is the component that describes a failure of this status.
func failureNamed(status string) string {
	switch status {
	case "429":
		return "Limited"
	case "503":
		return "Overloaded"
	}
	return "Error"
}

// failures are the statuses that callers should be ready for.
func (d *described) failures() []string {
	statuses := []string{"429", "502", "503", "504"}
	for _, p := range d.Params {
		if p.Hidden() {
			continue
		}
		statuses = append(statuses, "400")
		if slices.Contains([]string{"host", "site", "url"}, p.Type) {
			statuses = append(statuses, "403")
		}
		if p.Role == "" {
			statuses = append(statuses, "404")
		}
	}
	slices.Sort(statuses)
	return slices.Compact(statuses)
}

func (d *described) forms() string {
	return "The answer; forms: " + strings.Join(d.FormNames(), ", ") + "."
}

// envelope is the JSON answer around the endpoint's data.
func (d *described) envelope() object {
	media := object{"schema": object{
		"type": "object", "required": []string{"code", "message", "data"},
		"properties": object{
			"code": object{"const": http.StatusOK}, "message": object{"const": "ok"}, "data": d.sample.Shape.Schema(),
		},
	}}
	if d.sample.Data != nil {
		media["example"] = object{"code": http.StatusOK, "message": "ok", "data": d.sample.Data}
	}
	return media
}
