package pages

import (
	"sundry/proxy/site/i18n"
	"sundry/proxy/site/openapi"
)

// openAPI is the OpenAPI document in a language. It says where the service is reached only
// if the settings do: what a request says of it is not to be believed, because a cache may
// give the answer to everybody.
func (s *Set) openAPI(l i18n.Language) (*Document, error) {
	d, err := openapi.New(openapi.Config{
		API: s.cfg.API, PublicURL: s.cfg.PublicURL, BasePath: s.cfg.BasePath, Language: l,
		Version: s.cfg.Version, Contact: s.cfg.Contact, Errors: s.cfg.Errors(l),
	})
	if err != nil {
		return nil, err
	}
	return newDocument(typeJSON, d), nil
}
