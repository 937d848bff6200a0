package pages

import (
	"strings"

	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
)

// homeGroup is a group of endpoints with its title.
type homeGroup struct {
	Name, Title string
	Endpoints   []homeEndpoint
}

// homeEndpoint is an endpoint as a card shows it.
type homeEndpoint struct {
	Name    string
	Summary string
	// Page, and Path of the API, are below the base path. One that has Hosts has no Path.
	Page, Path string
	Hosts      []string
	// Words that a search looks in: those of both languages.
	Words string
	Taste *taste // nil: there is nothing to show
}

func (s *Set) home(l i18n.Language) (view, error) {
	about := l.Say("Sundry: HTTP APIs as they are, behind a cache.", "Sundry：原样代理的 HTTP API，前置缓存。")
	if len(s.cfg.API.Endpoints) > 0 {
		about = l.Say("Sundry: pictures, daily news, quotes and lookups as a public HTTP API. Call it with GET, without a key.", "Sundry：图片、每日资讯、一言与各类查询的公共 HTTP 接口，GET 即可调用，无需密钥。")
	}
	return view{
		Template:    "home",
		Section:     HomePath,
		Description: about,
		Data:        s.groups(l),
	}, nil
}

// groups are those that have endpoints, and last that of the APIs as they are.
func (s *Set) groups(l i18n.Language) []homeGroup {
	var all []homeGroup
	for _, g := range s.cfg.API.Groups() {
		group := homeGroup{Name: g.Name, Title: l.Say(g.EN, g.ZH)}
		for _, e := range s.cfg.API.InGroup(g.Name) {
			group.Endpoints = append(group.Endpoints, homeEndpoint{
				Name: e.Name, Summary: l.Say(e.EN, e.ZH), Page: EndpointPath(e), Path: apiPath(e), Words: strings.ToLower(e.Name + " " + e.EN + " " + e.ZH), Taste: s.tasteOf(l, e),
			})
		}
		if group.Endpoints != nil {
			all = append(all, group)
		}
	}
	if group, ok := s.apis(l); ok {
		all = append(all, group)
	}
	return all
}

// apiPath is the short path of an endpoint, below the base path.
func apiPath(e *catalog.Endpoint) string { return "/api/" + e.Name }

// overview is the first page of the reference: what all endpoints have in common, and
// the list of them.
func (s *Set) overview(l i18n.Language) (view, error) {
	first := ""
	if last := len(s.cfg.API.Endpoints) - 1; last >= 0 {
		first = s.cfg.API.Endpoints[last].Name
	}
	return view{
		Template:    "overview",
		Section:     ReferencePath,
		Title:       l.Say("Docs", "文档"),
		Description: l.Say("How to call the API: answers, formats, errors, caching, and a page for each endpoint.", "接口调用说明：返回内容、格式、错误与缓存，以及每个接口的文档。"),
		Data: struct {
			Groups []homeGroup
			First  string // an endpoint to call as an example; "": there is none
			Errors []apidoc.Error
			Tools  string // path for agents; "" for none
			Origin string // of the service; "" where nobody knows it
		}{s.groups(l), first, apidoc.ErrorsOf(nil, s.cfg.Errors(l)), s.cfg.Tools, s.cfg.PublicURL},
	}, nil
}
