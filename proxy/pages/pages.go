// Package pages generates what people and programs read about the API: the home
// page, the reference and the OpenAPI document. It promises that a page depends on
// nothing but the catalog and the recorded exchanges, is generated once per
// catalog when it is first needed, and is ready in every content coding. Package
// proxy serves the pages; requests for endpoints do not come here.
package pages

import (
	"context"
	"sync"

	"sundry/upstreams/catalog"
	"sundry/upstreams/recorded"
)

// Paths of the pages, below the base path.
const (
	HomePath      = "/"
	ReferencePath = "/docs"
	OpenAPIPath   = "/openapi.json"
)

// Has reports whether there is a page at the path.
func Has(path string) bool {
	return path == HomePath || path == ReferencePath || path == OpenAPIPath
}

// Config of a Set.
type Config struct {
	Catalog *catalog.Catalog
	// BasePath is the prefix of all links, such as /tools; "" for none.
	BasePath string
	// Recorded returns the recorded exchanges that show what answers look like; nil
	// for none. It is called when a page that shows them is first requested.
	Recorded func() []*recorded.Case
	// ErrorTypes is the closed list of the types of error answers.
	ErrorTypes []string
}

// Set holds the pages of one catalog.
type Set struct {
	cfg       Config
	documents map[string]func() (*Document, error) // by path
}

// New generates the home page at once, so that an error in it is found before the
// catalog is used. The other pages, which need the recorded exchanges, are generated when
// they are first requested.
func New(cfg Config) (*Set, error) {
	home, err := renderHome(cfg.Catalog, cfg.BasePath)
	if err != nil {
		return nil, err
	}
	s := &Set{cfg: cfg}
	s.documents = map[string]func() (*Document, error){
		HomePath:      sync.OnceValues(func() (*Document, error) { return newDocument(typeHTML, home) }),
		ReferencePath: sync.OnceValues(s.reference),
		OpenAPIPath:   sync.OnceValues(s.openAPI),
	}
	return s, nil
}

// Document returns the page at a path for which Has reports true.
func (s *Set) Document(path string) (*Document, error) { return s.documents[path]() }

func (s *Set) reference() (*Document, error) {
	body, err := renderReference(context.Background(), s.cfg.Catalog, s.recorded(), s.cfg.BasePath)
	if err != nil {
		return nil, err
	}
	return newDocument(typeHTML, body)
}

func (s *Set) openAPI() (*Document, error) {
	body, err := renderOpenAPI(context.Background(), s.cfg.Catalog, s.recorded(), s.cfg.BasePath, s.cfg.ErrorTypes)
	if err != nil {
		return nil, err
	}
	return newDocument(typeJSON, body)
}

// recorded are the exchanges that the catalog has a use for, with their parameters in
// canonical form.
func (s *Set) recorded() []*recorded.Case {
	if s.cfg.Recorded == nil {
		return nil
	}
	cases := s.cfg.Recorded()
	_, _ = recorded.Exchanges(s.cfg.Catalog, cases) // the others are left out; check says what is wrong with them
	return cases
}
