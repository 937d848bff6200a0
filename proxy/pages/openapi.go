package pages

import (
	"context"
	"sync"

	"sundry/proxy/language"
	"sundry/proxy/openapi"
)

// mostDescriptions is how many descriptions are kept ready in every coding: one for each
// language and each of the origins by which the service is reached.
const mostDescriptions = 8

// descriptions are the OpenAPI documents of a catalog.
type descriptions struct {
	write map[language.Language]func() (*openapi.Document, error)
	mu    sync.Mutex
	ready map[descriptionKey]*Document
}

type descriptionKey struct {
	language language.Language
	origin   string
}

// newDescriptions has none ready yet.
func newDescriptions(s *Set) *descriptions {
	d := &descriptions{write: map[language.Language]func() (*openapi.Document, error){}, ready: map[descriptionKey]*Document{}}
	for _, l := range language.All() {
		d.write[l] = sync.OnceValues(func() (*openapi.Document, error) {
			return openapi.New(context.Background(), openapi.Config{
				Catalog: s.cfg.Catalog, Recorded: s.recorded(), BasePath: s.cfg.BasePath, Language: l,
				Version: s.cfg.Version, Contact: s.cfg.Contact, Errors: s.cfg.Errors(l),
			})
		})
	}
	return d
}

// OpenAPI is the OpenAPI document in a language, for callers who reach the service at an
// origin such as https://api.example.org; "" for one that is not known. Callers can make
// up origins: those beyond the first few are served as they are, without a coding.
func (s *Set) OpenAPI(l language.Language, origin string) (*Document, error) {
	d, key := s.descriptions, descriptionKey{l, origin}
	d.mu.Lock()
	known, room := d.ready[key], len(d.ready) < mostDescriptions
	d.mu.Unlock()
	if known != nil {
		return known, nil
	}
	written, err := d.write[l]()
	if err != nil {
		return nil, err
	}
	if !room {
		return newPlain(typeJSON, written.At(origin)), nil
	}
	made := newDocument(typeJSON, written.At(origin))
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.ready) < mostDescriptions {
		d.ready[key] = made
	}
	return made, nil
}
