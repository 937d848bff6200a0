package pages

import (
	"strings"

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
	// Page and Path of the API are below the base path.
	Page, Path string
	// Words that a search looks in: those of both languages.
	Words string
	Taste *taste // nil: there is nothing to show
}

func (s *Set) home(l i18n.Language) (view, error) {
	return view{
		Template:    "home",
		Section:     HomePath,
		Description: l.Say("Sundry: pictures, daily news, quotes and lookups as a public HTTP API. Call it with GET, without a key.", "Sundry：图片、每日资讯、一言与各类查询的公共 HTTP 接口，GET 即可调用，无需密钥。"),
		Data:        s.groups(l),
	}, nil
}

// groups are those that have endpoints.
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
	return all
}

// apiPath is the short path of an endpoint, below the base path.
func apiPath(e *catalog.Endpoint) string { return "/api/" + e.Name }
