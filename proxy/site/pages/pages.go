// Package pages generates what people and programs read about the API: the home page,
// the reference, the OpenAPI document, and the files that crawlers and agents look for. It
// promises that a page depends on nothing but the catalog, the recorded exchanges and its
// language, is generated once for them when it is first needed, as is each of its
// content codings, and loads nothing from other sites. The page of the status is the one
// exception: it is made of a report. Package proxy serves the pages; requests for
// endpoints do not come here.
package pages

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"sundry/proxy/site/i18n"
	"sundry/proxy/site/openapi"
	"sundry/upstreams/catalog"
	"sundry/upstreams/fixtures"
)

// Paths of the pages, below the base path. That of an endpoint is ReferencePath + "/" +
// its name.
const (
	HomePath      = "/"
	ReferencePath = "/docs"
	StatusPath    = "/status"
	OpenAPIPath   = "/openapi.json"
)

// Config of a Set.
type Config struct {
	Catalog *catalog.Catalog
	// BasePath is the prefix of all links, such as /tools; "" for none.
	BasePath string
	// PublicURL is where visitors reach the service, such as https://api.example.org, for search
	// engines; "" where that is not known.
	PublicURL string
	// Recorded returns the recorded exchanges that show what answers look like; nil
	// for none. It is called when a page that shows them is first requested.
	Recorded func() []*fixtures.Case
	// Version of the program; "" where it is not known.
	Version string
	// Contact is an e-mail address or the URL of a page; "" for none.
	Contact string
	// Tools is the path at which agents are offered the endpoints as tools, below the base
	// path; "" where they are not.
	Tools string
	// Errors returns an example of every type of error, in a language.
	Errors func(i18n.Language) []openapi.Error
}

// Set holds the pages of one catalog.
type Set struct {
	cfg       Config
	templates *templates
	assets    assets
	// pages differ by language, files do not; both by path.
	pages map[string]map[i18n.Language]generator
	files map[string]generator
	// samples of the answers of all endpoints, by name, made when they are first needed.
	samples      func() map[string]sample
	descriptions map[i18n.Language]func() (*Document, error)
	missing      *missing
}

// generator makes a document when it is first called.
type generator func() (*Document, error)

// New generates the home page at once, so that an error in it is found before the
// catalog is used. The others are generated when they are first requested.
func New(cfg Config) (*Set, error) {
	s := &Set{cfg: cfg, assets: newAssets(cfg.BasePath), pages: map[string]map[i18n.Language]generator{}, files: map[string]generator{}}
	s.samples = sync.OnceValue(s.sampled)
	var err error
	if s.templates, err = parseTemplates(s); err != nil {
		return nil, fmt.Errorf("templates of the pages: %w", err)
	}
	s.addPage(HomePath, s.home)
	s.addPage(ReferencePath, s.overview)
	for _, e := range cfg.Catalog.Endpoints {
		s.addPage(EndpointPath(e), func(l i18n.Language) (view, error) { return s.reference(e, l) })
	}
	s.descriptions = newDescriptions(s)
	s.missing = newMissing(s)
	s.addAssets()
	s.addWellKnown()
	for _, l := range i18n.All() {
		if _, err := s.Document(HomePath, l); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// EndpointPath is the path of the page of an endpoint, below the base path.
func EndpointPath(e *catalog.Endpoint) string { return ReferencePath + "/" + e.Name }

// addPage adds a page that differs by language.
func (s *Set) addPage(path string, of func(i18n.Language) (view, error)) {
	s.pages[path] = map[i18n.Language]generator{}
	for _, l := range i18n.All() {
		s.pages[path][l] = sync.OnceValues(func() (*Document, error) {
			v, err := of(l)
			if err != nil {
				return nil, fmt.Errorf("page %s: %w", path, err)
			}
			v.Path = path
			return s.render(l, v)
		})
	}
}

// addFile adds a document that is the same in all languages.
func (s *Set) addFile(path string, of generator) { s.files[path] = sync.OnceValues(of) }

// Has reports whether there is a document at the path, and whether it differs by language.
// The path of a page may end with a slash.
func (s *Set) Has(path string) (found, translated bool) {
	if s.pages[page(path)] != nil {
		return true, true
	}
	return s.files[path] != nil || path == OpenAPIPath || s.assets.has(path), false
}

// page is the path without the slash at its end.
func page(path string) string {
	if trimmed := strings.TrimSuffix(path, "/"); trimmed != "" {
		return trimmed
	}
	return path
}

// Document returns what is at a path that Has reports to be there. The language matters
// where it says so.
func (s *Set) Document(path string, l i18n.Language) (*Document, error) {
	if of := s.pages[page(path)]; of != nil {
		return of[l]()
	}
	if of := s.files[path]; of != nil {
		return of()
	}
	if path == OpenAPIPath {
		return s.OpenAPI(l)
	}
	return s.assets.outdated(s, path)
}

// recorded are the exchanges that the catalog has a use for, with their parameters in
// canonical form.
func (s *Set) recorded() []*fixtures.Case {
	if s.cfg.Recorded == nil {
		return nil
	}
	cases := s.cfg.Recorded()
	_, _ = fixtures.Exchanges(s.cfg.Catalog, cases) // the others are left out; check says what is wrong with them
	return cases
}

// sample is what an endpoint answered when its exchanges were recorded.
type sample struct {
	fixtures.Sample
	texts map[string]string // by form
}

// sampled makes a sample of the answers of each endpoint, by its name.
func (s *Set) sampled() map[string]sample {
	all, cases := map[string]sample{}, s.recorded()
	for _, e := range s.cfg.Catalog.Endpoints {
		all[e.Name] = sample{fixtures.SampleOf(context.Background(), e, cases), fixtures.Texts(context.Background(), e, cases)}
	}
	return all
}
