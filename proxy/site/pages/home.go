package pages

import (
	"net/url"
	"strings"

	"sundry/cache/policy"
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
	Name, Title, Summary string
	// Page, and Path of the API, are below the base path. One that has Hosts has no Path.
	Page, Path string
	Hosts      []string
	// Names and About are what a search looks in: those of both languages, in lower case. Typing errors are forgiven in Names alone:
	// a long text has a word that is near to most others.
	Names, About string
	Taste        *taste // nil: there is nothing to show
}

func (s *Set) home(l i18n.Language) (view, error) {
	about := l.Say("HTTP APIs as they are, behind a cache.", "原样代理的 HTTP API，前置缓存。")
	if len(s.cfg.API.Endpoints) > 0 {
		about = l.Say("Images, lookups and daily news for bots, web pages and scripts: one GET request, no key, no sign-up.", "给机器人、网页和脚本用的图片、查询与每日资讯接口：一个 GET 请求即可调用，无需注册，无需密钥。")
	}
	return view{
		Template:    "home",
		Section:     HomePath,
		Description: about,
		Data: struct {
			Groups []homeGroup
			First  firstCall // as of the overview
			Origin string
		}{s.groups(l), s.firstExample(l), s.origin()},
	}, nil
}

// groups are those that have endpoints, and last that of the APIs as they are.
func (s *Set) groups(l i18n.Language) []homeGroup {
	var all []homeGroup
	for _, g := range s.cfg.API.Groups {
		group := homeGroup{Name: g.Name, Title: l.Say(g.EN, g.ZH)}
		for _, e := range s.cfg.API.InGroup(g.Name) {
			group.Endpoints = append(group.Endpoints, homeEndpoint{
				Name: e.Name, Title: l.Of(e.Title), Summary: l.Say(e.EN, e.ZH), Page: EndpointPath(e), Path: apiPath(e), Taste: s.tasteOf(l, e),
				Names: searched(append([]string{e.Name, e.Title.EN(), e.Title.ZH()}, e.Keywords...)), About: searched([]string{e.EN, e.ZH}),
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

func searched(words []string) string { return strings.ToLower(strings.Join(words, " ")) }

// apiPath is the short path of an endpoint, below the base path.
func apiPath(e *catalog.Endpoint) string { return "/api/" + e.Name }

// firstCall is a call to begin with.
type firstCall struct {
	Name string // of the endpoint; "": there is none
	Path string // as a link, with the query
	File string // to save the answer in; "": it is a text
}

// firstExample calls an endpoint that comes with the program, if there are any. Most of those answer in
// Chinese: who reads English gets a picture that is drawn here.
func (s *Set) firstExample(l i18n.Language) (first firstCall) {
	for _, e := range s.cfg.API.Endpoints {
		if first.Name == "" || !e.Own {
			first = firstCall{Name: e.Name, Path: s.url(apiPath(e))}
		}
	}
	for _, e := range s.cfg.API.Endpoints {
		if required := requiredParams(e); l == i18n.English && !e.Own && drawnHere(e) && len(required) == 1 {
			query := url.Values{required[0].Name: {required[0].Example}}
			return firstCall{Name: e.Name, Path: s.url(apiPath(e)) + "?" + query.Encode(), File: e.Name + ".png"}
		}
	}
	return first
}

// drawnHere reports whether the default answer is a picture that is made of the parameters alone.
func drawnHere(e *catalog.Endpoint) bool {
	return e.Policy.Class == policy.Computed && e.Forms[0].IsPicture() && !e.Forms[0].IsSVG()
}

// overview is the first page of the reference: what all endpoints have in common, and
// the list of them.
func (s *Set) overview(l i18n.Language) (view, error) {
	return view{
		Template:    "overview",
		Section:     ReferencePath,
		Title:       l.Say("Docs", "文档"),
		Description: l.Say("How to call the API: answers, formats, errors, caching, and a page for each endpoint.", "接口调用说明：返回内容、格式、错误与缓存，以及每个接口的文档。"),
		Data: struct {
			Groups []homeGroup
			First  firstCall
			Errors []apidoc.Error
			Tools  string // path for agents; "" for none
			Origin string // of the service
		}{s.groups(l), s.firstExample(l), apidoc.ErrorsOf(nil, s.cfg.Errors(l)), s.cfg.Tools, s.origin()},
	}, nil
}
