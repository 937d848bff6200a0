// Package apidoc has what is told of the endpoints, wherever it is told: on pages, in the
// OpenAPI document, to agents. It promises that all of them say the same, and what callers
// get: parameters come from the catalog, answers from the recorded exchanges, errors from
// the server.
package apidoc

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"sundry/proxy/site/i18n"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/fixtures"
)

// API is the endpoints of a catalog, with what they answer.
type API struct {
	*catalog.Catalog
	samples func() map[string]Sample
}

// Sample is what an endpoint answered when its exchanges were recorded.
type Sample struct {
	fixtures.Sample
	texts map[string]string // of forms that are text, by their names
}

// Text is what a form answers callers of a language; "" for one that is no text.
func (s *Sample) Text(f *catalog.Form, l i18n.Language) string {
	return s.texts[f.In(l == i18n.English).Name]
}

// New describes a catalog. recorded returns its exchanges; nil for none. It is called when a
// sample is first needed.
func New(c *catalog.Catalog, recorded func(*catalog.Catalog) []*fixtures.Case) *API {
	return &API{Catalog: c, samples: sync.OnceValue(func() map[string]Sample {
		var cases []*fixtures.Case
		if recorded != nil {
			cases, _ = fixtures.ReadyFor(c, recorded(c)) // the others are left out; check says what is wrong with them
		}
		all := map[string]Sample{}
		for _, e := range c.Endpoints {
			all[e.Name] = Sample{fixtures.SampleOf(context.Background(), e, cases), fixtures.Texts(context.Background(), e, cases)}
		}
		return all
	})}
}

// SampleOf is that of an endpoint; it has no answer where none is recorded.
func (a *API) SampleOf(e *catalog.Endpoint) Sample { return a.samples()[e.Name] }

// AsksOthers reports whether an answer may come from elsewhere than this service.
func AsksOthers(e *catalog.Endpoint) bool {
	return slices.ContainsFunc(e.Sources(), (*upstreams.Source).Remote)
}

// Error is an example of an error, of one of the types that there are.
type Error struct {
	Type   string
	Status int
	// Body is the answer as JSON, Message the answer as text.
	Body    json.RawMessage
	Message string
	// Meaning is what the type says.
	Meaning string
}

// ErrorsOf are those of all that an endpoint can answer with; nil stands for any endpoint.
func ErrorsOf(e *catalog.Endpoint, all []Error) []Error {
	return slices.DeleteFunc(slices.Clone(all), func(f Error) bool { return e != nil && !mayFail(e, f.Type) })
}

// mayFail reports whether the endpoint can answer with an error of the type.
func mayFail(e *catalog.Endpoint, errorType string) bool {
	has := func(is func(*catalog.Param) bool) bool {
		return slices.ContainsFunc(e.Params, func(p *catalog.Param) bool { return !p.Derived() && is(p) })
	}
	switch errorType {
	case "missing_parameter":
		return has(func(p *catalog.Param) bool { return p.Required })
	case "invalid_parameter":
		return has(func(*catalog.Param) bool { return true })
	case "forbidden_target":
		return has(func(p *catalog.Param) bool { return slices.Contains([]string{"host", "site", "url"}, p.Type) })
	case "not_found":
		return has(func(p *catalog.Param) bool { return p.Role == catalog.RoleInput })
	case "upstream_unavailable", "upstream_timeout":
		return AsksOthers(e)
	}
	return true
}
