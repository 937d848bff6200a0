// Package pages generates what people and programs read about the API: the home page,
// the reference, the OpenAPI document, and the files that crawlers and agents look for. It
// promises that a page depends on nothing but the catalog, the recorded exchanges and its
// language, is generated once for them when it is first needed, as is each of its
// content codings, and loads nothing from other sites. The page of the status is the one
// exception: it is made of a report. Package proxy serves the pages; requests for
// endpoints do not come here.
package pages

import (
	"fmt"
	"html/template"
	"strings"
	"sync"

	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
	"sundry/proxy/site/status"
	"sundry/upstreams/catalog"
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
	API *apidoc.API
	// BasePath is the prefix of all links, such as /tools; "" for none.
	BasePath string
	// PublicURL is where visitors reach the service, such as https://api.example.org, for search
	// engines; "" where that is not known.
	PublicURL string
	// Version of the program; "" where it is not known.
	Version string
	// Contact is an e-mail address or the URL of a page; "" for none.
	Contact string
	// Tools is the path at which agents are offered the endpoints as tools, below the base
	// path; "" where they are not.
	Tools string
	// Rate is how many requests a second a caller may make in the long run, Burst how many at
	// once; 0: any number.
	Rate  float64
	Burst int64
	// Replay: responses are recorded samples, which every page says.
	Replay bool
	// Errors returns an example of every type of error, in a language.
	Errors func(i18n.Language) []apidoc.Error
	// Status returns the report that is told at present: the same one for a while, so that
	// its documents are not made too often.
	Status func() *status.Report
}

// Set holds the pages of one catalog.
type Set struct {
	cfg       Config
	templates map[templateKey]func() (*template.Template, error)
	assets    assets
	places    map[string]Place     // by path
	missing   map[string]generator // by the name that was meant
	statusMu  sync.Mutex           // guards what follows
	status    *status.Report
	ofStatus  map[string]generator // the documents of that report, by path
}

// Place is what is at a path.
type Place struct {
	Kind Kind
	Make generator
}

// Kind says whether a document differs by language.
type Kind uint8

// The kinds.
const (
	// Absent: there is nothing.
	Absent Kind = iota
	// File: it is the same in all languages.
	File
	// Answer: it is in the language of answers of the API.
	Answer
	// Page: it is in the language of pages, which browsers remember.
	Page
)

// generator makes a document in a language; for a file, in any.
type generator func(i18n.Language) (*Document, error)

// once makes a document in each language when it is first called for it.
func once(of generator) generator {
	made := map[i18n.Language]func() (*Document, error){}
	for _, l := range i18n.All() {
		made[l] = sync.OnceValues(func() (*Document, error) { return of(l) })
	}
	return func(l i18n.Language) (*Document, error) { return made[l]() }
}

// New generates the home page at once, so that an error in it is found before the
// catalog is used. The others are generated when they are first requested.
func New(cfg Config) (*Set, error) {
	s := &Set{cfg: cfg, assets: newAssets(cfg.BasePath), places: map[string]Place{}}
	if err := s.addTemplates(); err != nil {
		return nil, err
	}
	s.addPage(HomePath, s.home)
	s.addPage(ReferencePath, s.overview)
	for _, e := range cfg.API.Endpoints {
		s.addPage(EndpointPath(e), func(l i18n.Language) (view, error) { return s.reference(e, l) })
	}
	for _, a := range cfg.API.APIs {
		s.addPage(apiPagePath(a), func(l i18n.Language) (view, error) { return s.asIs(a, l) })
	}
	s.places[OpenAPIPath] = Place{Answer, once(s.openAPI)}
	s.missing = s.missingPages()
	s.addStatus()
	s.addAssets()
	s.addWellKnown()
	for _, l := range i18n.All() {
		if _, err := s.places[HomePath].Make(l); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// EndpointPath is the path of the page of an endpoint, below the base path.
func EndpointPath(e *catalog.Endpoint) string { return ReferencePath + "/" + e.Name }

// addPage adds a page of a template.
func (s *Set) addPage(path string, of func(i18n.Language) (view, error)) {
	s.places[path] = Place{Page, once(func(l i18n.Language) (*Document, error) {
		v, err := of(l)
		if err != nil {
			return nil, fmt.Errorf("page %s: %w", path, err)
		}
		v.Path = path
		return s.render(l, v)
	})}
}

// addFile adds a document that is made once.
func (s *Set) addFile(path string, of func() *Document) {
	made := sync.OnceValue(of)
	s.places[path] = Place{File, func(i18n.Language) (*Document, error) { return made(), nil }}
}

// At returns what is at a path below the base path. That of a page may end with a slash.
func (s *Set) At(path string) Place {
	if found, ok := s.places[path]; ok {
		return found
	}
	if found := s.places[strings.TrimSuffix(path, "/")]; found.Kind == Page {
		return found
	}
	return s.outdatedAsset(path)
}

// IsCommon reports whether a path is that of a page or a file that every set has, whatever its endpoints, or may have.
func IsCommon(path string) bool {
	switch strings.TrimSuffix(path, "/") {
	case "", ReferencePath, StatusPath, StatusJSONPath, StatusNowPath, StatusFeedPath, OpenAPIPath, robotsPath, llmsPath, securityPath, iconPath:
		return true
	}
	return strings.HasPrefix(path, assetsPath)
}
