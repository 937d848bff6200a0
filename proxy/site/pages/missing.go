package pages

import (
	"fmt"
	"strings"

	"sundry/proxy/site/i18n"
)

// missing are the pages for paths without one. There is one for each page that may have
// been meant, so that they are generated once, whatever paths are asked for.
type missing struct {
	others []string                              // names that paths are compared with, beside the endpoints'
	paths  map[string]string                     // of the pages, by all those names
	titles map[string]func(i18n.Language) string // of the pages, by their paths
	// documents by the path of the page that was meant; "" for none.
	documents map[string]generator
}

func newMissing(s *Set) *missing {
	m := &missing{
		others: []string{"docs", "api", "status"},
		paths:  map[string]string{"": "", "docs": ReferencePath, "api": ReferencePath, "status": StatusPath},
		titles: map[string]func(i18n.Language) string{
			"":            func(i18n.Language) string { return "" },
			ReferencePath: func(l i18n.Language) string { return l.Say("the docs", "文档") },
			StatusPath:    func(l i18n.Language) string { return l.Say("the status page", "状态页") },
		},
		documents: map[string]generator{},
	}
	for _, e := range s.cfg.API.Endpoints {
		m.paths[e.Name], m.titles[EndpointPath(e)] = EndpointPath(e), func(l i18n.Language) string { return l.Of(e.Title) }
	}
	for _, a := range s.cfg.API.APIs {
		m.paths[a.Name], m.titles[apiPagePath(a)] = apiPagePath(a), func(l i18n.Language) string { return l.Of(a.Title) }
	}
	for _, path := range m.paths {
		m.documents[path] = once(func(l i18n.Language) (*Document, error) { return s.missingPage(l, path) })
	}
	return m
}

// Missing is the page for a path that there is none at. It links to the one that was
// probably meant.
func (s *Set) Missing(path string, l i18n.Language) (*Document, error) {
	name := strings.ToLower(strings.Trim(strings.TrimPrefix(path, ReferencePath+"/"), "/"))
	near := s.cfg.API.Nearest(name, s.missing.others...)
	return s.missing.documents[s.missing.paths[near]](l)
}

func (s *Set) missingPage(l i18n.Language, meant string) (*Document, error) {
	d, err := s.render(l, view{
		Template:    "missing",
		Title:       l.Say("No such page", "页面不存在"),
		Description: l.Say("There is no page at this address.", "该地址没有页面。"),
		Data:        struct{ Name, Page string }{s.missing.titles[meant](l), meant},
	})
	if err != nil {
		return nil, fmt.Errorf("page of missing pages: %w", err)
	}
	return d, nil
}
