package pages

import (
	"fmt"
	"strings"

	"sundry/proxy/site/i18n"
)

// missingPages are the pages for paths without one, by the name that was probably meant; "" for
// none. There is one for each, so that they are generated once, whatever paths are asked for.
func (s *Set) missingPages() map[string]generator {
	all := map[string]generator{}
	add := func(name, page string, title func(i18n.Language) string) {
		all[name] = once(func(l i18n.Language) (*Document, error) { return s.missingPage(l, title(l), page) })
	}
	docs := func(l i18n.Language) string { return l.Say("the docs", "文档") }
	add("", "", func(i18n.Language) string { return "" })
	add("docs", ReferencePath, docs)
	add("api", ReferencePath, docs)
	add("status", StatusPath, func(l i18n.Language) string { return l.Say("the status page", "状态页") })
	for _, e := range s.cfg.API.Endpoints {
		add(e.Name, EndpointPath(e), func(l i18n.Language) string { return l.Of(e.Title) })
	}
	for _, a := range s.cfg.API.APIs {
		add(a.Name, apiPagePath(a), func(l i18n.Language) string { return l.Of(a.Title) })
	}
	return all
}

// Missing is the page for a path that there is none at. It links to the one that was
// probably meant.
func (s *Set) Missing(path string, l i18n.Language) (*Document, error) {
	name := strings.ToLower(strings.Trim(strings.TrimPrefix(path, ReferencePath+"/"), "/"))
	return s.missing[s.cfg.API.Nearest(name, "docs", "api", "status")](l)
}

func (s *Set) missingPage(l i18n.Language, title, page string) (*Document, error) {
	d, err := s.render(l, view{
		Template:    "missing",
		Title:       l.Say("No such page", "页面不存在"),
		Description: l.Say("There is no page at this address.", "该地址没有页面。"),
		Data:        struct{ Name, Page string }{title, page},
	})
	if err != nil {
		return nil, fmt.Errorf("page of missing pages: %w", err)
	}
	return d, nil
}
