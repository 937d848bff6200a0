package pages

import (
	"context"
	"sync"

	"sundry/proxy/site/i18n"
	"sundry/proxy/site/openapi"
)

// newDescriptions are the OpenAPI documents of a catalog, in each language. They say where
// the service is reached only if the settings do: what a request says of it is not to be
// believed, because a cache may give the answer to everybody.
func newDescriptions(s *Set) map[i18n.Language]func() (*Document, error) {
	all := map[i18n.Language]func() (*Document, error){}
	for _, l := range i18n.All() {
		all[l] = sync.OnceValues(func() (*Document, error) {
			d, err := openapi.New(context.Background(), openapi.Config{
				Catalog: s.cfg.Catalog, Recorded: s.recorded(), PublicURL: s.cfg.PublicURL, BasePath: s.cfg.BasePath, Language: l,
				Version: s.cfg.Version, Contact: s.cfg.Contact, Errors: s.cfg.Errors(l),
			})
			if err != nil {
				return nil, err
			}
			return newDocument(typeJSON, d), nil
		})
	}
	return all
}

// OpenAPI is the OpenAPI document in a language.
func (s *Set) OpenAPI(l i18n.Language) (*Document, error) { return s.descriptions[l]() }
