package pages

import (
	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
)

// overview is the first page of the reference: what all endpoints have in common, and
// the list of them.
func (s *Set) overview(l i18n.Language) (view, error) {
	groups, first := s.groups(l), ""
	if last := len(groups) - 1; last >= 0 {
		first = groups[last].Endpoints[len(groups[last].Endpoints)-1].Name
	}
	return view{
		Template:    "overview",
		Section:     ReferencePath,
		Title:       l.Say("Docs", "文档"),
		Description: l.Say("How to call the API: answers, formats, errors, caching, and a page for each endpoint.", "接口调用说明：返回内容、格式、错误与缓存，以及每个接口的文档。"),
		Data: struct {
			Groups []homeGroup
			First  string // an endpoint to call as an example
			Errors []apidoc.Error
			Tools  string // path for agents; "" for none
			Origin string // of the service; "" where nobody knows it
		}{groups, first, apidoc.ErrorsOf(nil, s.cfg.Errors(l)), s.cfg.Tools, s.cfg.PublicURL},
	}, nil
}
