package pages

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
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

// parameters of the query, those aside that no caller gives.
func (d *described) parameters() []any {
	out := []any{}
	for _, p := range d.Params {
		if p.Hidden() {
			continue
		}
		param := object{
			"name": p.Name, "in": "query", "required": p.Required, "schema": schemaOf(p),
			"description": strings.TrimSpace(p.EN + " " + p.ZH),
		}
		if examples := d.examplesOf(p); len(examples) > 0 {
			param["examples"] = examples
		}
		out = append(out, param)
	}
	return out
}

// examplesOf are the parameter's values in the calls that are shown.
func (d *described) examplesOf(p *catalog.Param) object {
	examples := object{}
	add := func(name, summary, value string) {
		examples[name] = object{"summary": summary, "value": typed(p, value)}
	}
	for i, c := range recorded.Calls(d.Endpoint) {
		values, err := url.ParseQuery(c.Query)
		if v := values.Get(p.Name); err == nil && v != "" {
			add("call"+strconv.Itoa(i+1), c.As, v)
		}
	}
	if len(examples) == 0 {
		add("example", "A value", p.Example)
	}
	return examples
}

// typed is an example of the type that the schema says.
func typed(p *catalog.Param, value string) any {
	if n, err := strconv.Atoi(value); err == nil && p.Type == "int" {
		return n
	}
	return value
}

// schemaOf says what values are allowed.
func schemaOf(p *catalog.Param) object {
	s := object{"type": "string"}
	spec := &p.Spec
	switch {
	case len(spec.Enum) > 0:
		s["enum"] = spec.Enum
	case p.Type == "int":
		s = integer(spec.Min, spec.Max, spec.Also)
	case p.Type == "digits":
		s["pattern"] = digitsPattern(spec.MinLen, spec.MaxLen, spec.LeadingZero)
	case p.Type == "string", p.Role == "tail":
		s["minLength"] = max(1, spec.MinLen)
		s["maxLength"] = p.MaxLen()
	default:
		s["description"] = p.Allowed
	}
	if spec.Default != nil {
		s["default"] = typed(p, spec.Default.Value)
	}
	return s
}

func digitsPattern(low, high int, leadingZero bool) string {
	if leadingZero {
		return fmt.Sprintf("^[0-9]{%d,%d}$", low, high)
	}
	return fmt.Sprintf("^[1-9][0-9]{%d,%d}$", low-1, high-1)
}

func integer(low, high *int, also []int) object {
	s := object{"type": "integer", "minimum": *low, "maximum": *high}
	if len(also) == 0 {
		return s
	}
	return object{"type": "integer", "anyOf": []any{object{"minimum": *low, "maximum": *high}, object{"enum": also}}}
}

// answerHeaders are those of every answer.
func answerHeaders() object {
	headers := rateHeaders(false)
	for name, what := range map[string]string{
		"Age":           "Seconds since the answer was made; on those that were kept.",
		"Cache-Control": "Who may keep the answer. max-age is its whole freshness lifetime: less Age, it is what remains.",
		"Cache-Status":  "How the cache came to the answer (RFC 9211); sundry-last-resort marks one of a source that is asked when nothing else is left.",
		"Sundry-Source": "Which upstream the data is from.",
		"X-Request-Id":  "Names this exchange in the logs.",
	} {
		headers[name] = object{"description": what, "schema": object{"type": "string"}}
	}
	return headers
}

// rateHeaders tell what the rate limit leaves to the caller.
func rateHeaders(required bool) object {
	return object{
		"RateLimit": object{
			"description": "r requests may be made at once, and in t seconds one more (draft-ietf-httpapi-ratelimit-headers). Only told to who has little left.",
			"required":    required, "schema": object{"type": "string", "pattern": `^"default";r=[0-9]+;t=[1-9][0-9]*$`}, "example": `"default";r=0;t=2`,
		},
		"RateLimit-Policy": object{
			"description": "q requests may be made at once; who used them up has them all back after w seconds. Beside RateLimit.",
			"required":    required, "schema": object{"type": "string", "pattern": `^"default";q=[1-9][0-9]*;w=[1-9][0-9]*$`}, "example": `"default";q=80;w=4`,
		},
	}
}

// retryAfter tells when to ask again.
func retryAfter(required bool) object {
	return object{"description": "Seconds after which to ask again.", "required": required, "schema": object{"type": "integer", "minimum": 1}}
}

// components are what operations refer to.
func components(errorTypes []string) object {
	limited, overloaded := rateHeaders(true), rateHeaders(false)
	limited["Retry-After"], overloaded["Retry-After"] = retryAfter(true), retryAfter(true)
	other := rateHeaders(false)
	other["Retry-After"] = retryAfter(false)
	return object{
		"schemas": object{"Error": errorDocument(errorTypes)},
		"responses": object{
			"Error":      failedResponse("What went wrong", other),
			"Limited":    failedResponse("Too many requests from this address (IPv6: from its /64)", limited),
			"Overloaded": failedResponse("Too much is being done at the moment", overloaded),
			"Redirect":   object{"description": "Leads to the media.", "headers": redirectHeaders()},
		},
	}
}

func redirectHeaders() object {
	headers := rateHeaders(false)
	headers["Location"] = object{"required": true, "schema": object{"type": "string", "format": "uri"}}
	return headers
}

func failedResponse(what string, headers object) object {
	what += "; one line of text where type=text stands in the query. A callback, where the endpoint has one, is called with the same document, with the status 200."
	return object{"description": what, "headers": headers, "content": object{
		"application/json": object{"schema": object{"$ref": "#/components/schemas/Error"}}, "text/plain": object{"schema": object{"type": "string"}},
	}}
}

// errorDocument is the JSON of every failure.
func errorDocument(errorTypes []string) object {
	text := object{"type": "string"}
	return object{
		"type": "object", "required": []string{"code", "message", "error"},
		"properties": object{
			"code": object{"type": "integer", "minimum": http.StatusBadRequest, "maximum": 599, "description": "The HTTP status again."}, "message": text,
			"error": object{
				"type": "object", "required": []string{"type", "request_id"},
				"properties": object{"type": object{"enum": errorTypes}, "parameter": text, "request_id": text},
			},
		},
	}
}
