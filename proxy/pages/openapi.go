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
	"sundry/upstreams/plainjson"
	"sundry/upstreams/recorded"
)

// object is a JSON object.
type object = map[string]any

// ordered is one whose members keep their order.
type ordered = plainjson.Object

// renderOpenAPI generates an OpenAPI 3.1 document. The schemas of answers come from
// the recorded exchanges, the example calls from the conformance table.
func renderOpenAPI(ctx context.Context, c *catalog.Catalog, cases []*recorded.Case, base string, errorTypes []string) ([]byte, error) {
	var paths ordered
	for _, e := range c.Endpoints {
		o := operation{e, recorded.SampleOf(ctx, e, cases)}
		paths = append(paths, plainjson.Member{Name: "/api/" + e.Name + "/index.php", Value: object{"get": o.describe()}})
	}
	doc := object{
		"openapi": "3.1.0",
		"info": object{"title": "Sundry", "version": "1", "summary": "Public, read-only utility endpoints.",
			"description": "Every endpoint is called with GET. Unknown parameters are ignored; if one is repeated, its first value counts; an empty one counts as absent. Listed values are taken in any case. A query holds at most 256 parameters. An answer has all of its fields: what is not known is null. " +
				"The path may also end with the endpoint's name, with or without a trailing slash."},
		"servers":    []any{object{"url": cmp.Or(base, "/")}},
		"tags":       tags(c),
		"paths":      paths,
		"components": components(errorTypes),
	}
	var b bytes.Buffer
	if err := plainjson.NewEncoder(&b).Encode(doc); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return b.Bytes(), nil
}

// tags are the groups of the catalog.
func tags(c *catalog.Catalog) []any {
	var out []any
	for _, g := range c.Groups() {
		out = append(out, object{"name": g.Name, "description": g.EN + " " + g.ZH})
	}
	return out
}

// operation is an endpoint with a sample of its answers.
type operation struct {
	*catalog.Endpoint
	sample recorded.Sample
}

func (o *operation) describe() object {
	op := object{
		"operationId": o.Name, "tags": []string{o.Group}, "summary": o.EN, "description": o.ZH,
		"parameters": o.parameters(), "responses": o.responses(),
	}
	var calls []any
	for _, c := range recorded.Calls(o.Endpoint) {
		calls = append(calls, object{"summary": c.As, "query": c.Query})
	}
	op["x-examples"] = calls
	return op
}

func (o *operation) responses() object {
	content := object{}
	responses := object{"default": object{"$ref": "#/components/responses/Error"}}
	for _, f := range o.Forms {
		switch {
		case f.Kind == "json":
			content["application/json"] = o.envelope()
		case f.Kind == "text":
			content["text/plain"] = object{"schema": object{"type": "string"}}
		case f.Kind == "markdown":
			content["text/markdown"] = object{"schema": object{"type": "string"}}
		case f.Kind == "script":
			content["text/javascript"] = object{"schema": object{"type": "string"}}
		case f.Kind == "picture", f.PictureProxy != nil:
			content["image/*"] = object{}
		case f.Kind == "interstitial":
			content["text/html"] = object{"schema": object{"type": "string"}}
		case f.Kind == "redirect":
			responses["302"] = object{"$ref": "#/components/responses/Redirect"}
		}
	}
	if slices.ContainsFunc(o.Params, func(p *catalog.Param) bool { return p.Role == "callback" }) {
		content["text/javascript"] = object{"schema": object{"type": "string"}}
	}
	if len(content) > 0 {
		responses["200"] = object{"description": o.formats(), "headers": answerHeaders(), "content": content}
	}
	for _, status := range o.errorStatuses() {
		responses[status] = object{"$ref": "#/components/responses/" + errorResponse(status)}
	}
	return responses
}

// errorResponse names the component that describes an error of this status.
func errorResponse(status string) string {
	switch status {
	case "429":
		return "Limited"
	case "503":
		return "Overloaded"
	}
	return "Error"
}

// errorStatuses are the statuses of errors that callers have to expect.
func (o *operation) errorStatuses() []string {
	statuses := []string{"429", "502", "503", "504"}
	for _, p := range o.Params {
		if p.Derived() {
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

func (o *operation) formats() string {
	return "The answer; formats: " + strings.Join(o.FormNames(), ", ") + "."
}

// envelope describes the JSON answer around the endpoint's data.
func (o *operation) envelope() object {
	media := object{"schema": object{
		"type": "object", "required": []string{"code", "message", "data"},
		"properties": ordered{
			{Name: "code", Value: object{"const": http.StatusOK}}, {Name: "message", Value: object{"const": "ok"}},
			{Name: "data", Value: o.sample.Shape.Schema(o.Fields)},
		},
	}}
	if o.sample.Data != nil {
		media["example"] = json.RawMessage(o.sample.Answer)
	}
	return media
}

// parameters describes the query, without hidden parameters.
func (o *operation) parameters() []any {
	out := []any{}
	for _, p := range o.Params {
		if p.Derived() {
			continue
		}
		param := object{
			"name": p.Name, "in": "query", "required": p.Required, "schema": schemaOf(p),
			"description": strings.TrimSpace(p.EN + " " + p.ZH),
		}
		if examples := o.examplesOf(p); len(examples) > 0 {
			param["examples"] = examples
		}
		out = append(out, param)
	}
	return out
}

// examplesOf returns the parameter's values in the example calls.
func (o *operation) examplesOf(p *catalog.Param) object {
	examples := object{}
	add := func(name, summary, value string) {
		examples[name] = object{"summary": summary, "value": typed(p, value)}
	}
	for i, c := range recorded.Calls(o.Endpoint) {
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

// typed converts an example to the type in the schema.
func typed(p *catalog.Param, value string) any {
	if n, err := strconv.Atoi(value); err == nil && p.Type == "int" {
		return n
	}
	return value
}

// schemaOf describes the values that are allowed.
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

// answerHeaders describes the headers of every answer.
func answerHeaders() object {
	headers := rateHeaders(false)
	for name, what := range map[string]string{
		"Age":           "Seconds since the answer was created; on cached answers.",
		"Cache-Control": "Which caches may store the answer. max-age is the whole freshness lifetime: max-age minus Age is the time that remains.",
		"Cache-Status":  "How the cache came to the answer (RFC 9211); sundry-last-resort marks an answer of a source of last resort, which is asked when all others have failed.",
		"Sundry-Source": "The upstream source of the data.",
		"X-Request-Id":  "Identifies this request in the logs.",
	} {
		headers[name] = object{"description": what, "schema": object{"type": "string"}}
	}
	return headers
}

// rateHeaders describes the headers with what remains of the caller's rate limit.
func rateHeaders(required bool) object {
	return object{
		"RateLimit": object{
			"description": "r requests may be made at once, and in t seconds one more (draft-ietf-httpapi-ratelimit-headers). Sent only when few requests remain.",
			"required":    required, "schema": object{"type": "string", "pattern": `^"default";r=[0-9]+;t=[1-9][0-9]*$`}, "example": `"default";r=0;t=2`,
		},
		"RateLimit-Policy": object{
			"description": "q requests may be made at once; after w seconds without a request all of them are available again. Sent with RateLimit.",
			"required":    required, "schema": object{"type": "string", "pattern": `^"default";q=[1-9][0-9]*;w=[1-9][0-9]*$`}, "example": `"default";q=80;w=4`,
		},
	}
}

// retryAfter describes Retry-After.
func retryAfter(required bool) object {
	return object{"description": "Seconds after which to retry.", "required": required, "schema": object{"type": "integer", "minimum": 1}}
}

// errorHeader describes Sundry-Error.
func errorHeader(errorTypes []string) object {
	return object{
		"description": "The type of the error, and the parameter that is at fault if there is one; as in the body, where that is JSON.",
		"required":    true, "schema": object{"type": "string", "pattern": "^(" + strings.Join(errorTypes, "|") + ")(; parameter=[a-z][a-z0-9_]*)?$"},
		"example": "invalid_parameter; parameter=size",
	}
}

// components are what the operations refer to.
func components(errorTypes []string) object {
	headers := func(rates, retry bool) object {
		all := rateHeaders(rates)
		all["Retry-After"], all["Sundry-Error"] = retryAfter(retry), errorHeader(errorTypes)
		return all
	}
	return object{
		"schemas": object{"Error": errorBody(errorTypes)},
		"responses": object{
			"Error":      describeError("An error", headers(false, false)),
			"Limited":    describeError("Too many requests from this address (IPv6: from its /64)", headers(true, true)),
			"Overloaded": describeError("The service is overloaded", headers(false, true)),
			"Redirect":   object{"description": "Redirects to the media.", "headers": redirectHeaders()},
		},
	}
}

func redirectHeaders() object {
	headers := rateHeaders(false)
	headers["Location"] = object{"required": true, "schema": object{"type": "string", "format": "uri"}}
	return headers
}

func describeError(what string, headers object) object {
	what += "; one line of text if the query has type=text, and a small picture that says so where a picture was asked for: by the form (but a mistake in the parameters " +
		"is still told in JSON to who accepts anything), or by Accept. With a callback, where the endpoint has one, the callback is called with the same body, and the HTTP status is 200."
	return object{"description": what, "headers": headers, "content": object{
		"application/json": object{"schema": object{"$ref": "#/components/schemas/Error"}}, "text/plain": object{"schema": object{"type": "string"}},
		"image/png": object{}, "image/svg+xml": object{},
	}}
}

// errorBody describes the JSON of every error.
func errorBody(errorTypes []string) object {
	text := object{"type": "string"}
	return object{
		"type": "object", "required": []string{"code", "message", "error"},
		"properties": object{
			"code": object{"type": "integer", "minimum": http.StatusBadRequest, "maximum": 599, "description": "The HTTP status."}, "message": text,
			"error": object{
				"type": "object", "required": []string{"type", "request_id"},
				"properties": object{"type": object{"enum": errorTypes}, "parameter": text, "request_id": text},
			},
		},
	}
}
