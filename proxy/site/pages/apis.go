package pages

import (
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
)

// apisGroup names the group of the APIs that are served as they are. No group of an operator's own has an underscore.
const apisGroup = "as_is"

// apis is that group; ok is false where there is none.
func (s *Set) apis(l i18n.Language) (group homeGroup, ok bool) {
	group = homeGroup{Name: apisGroup, Title: l.Say("APIs as they are", "原样代理的 API")}
	for _, a := range s.cfg.API.APIs {
		group.Endpoints = append(group.Endpoints, homeEndpoint{
			Name: a.Name, Title: l.Of(a.Title), Summary: summaryOf(a, l), Page: apiPagePath(a), Path: apiPlace(a), Hosts: a.Hosts,
			Names: searched(append([]string{a.Name, a.Title.EN(), a.Title.ZH()}, a.Hosts...)), About: searched([]string{a.EN, a.ZH}),
		})
	}
	return group, group.Endpoints != nil
}

// summaryOf is what the file of an API says that it is for, or else that it is one.
func summaryOf(a *catalog.API, l i18n.Language) string {
	if a.EN == "" {
		return l.Say("An HTTP API as it is.", "原样代理的 HTTP API。")
	}
	return l.Say(a.EN, a.ZH)
}

// rulesOf are the rules by which answers of an API are kept.
func rulesOf(a *catalog.API, l i18n.Language) (rules []string) {
	for _, rule := range a.Rules.Explain() {
		rules = append(rules, l.Of(rule))
	}
	return rules
}

// apiPagePath is the path of the page of an API, below the base path.
func apiPagePath(a *catalog.API) string { return ReferencePath + "/" + a.Name }

// apiPlace is the path under which an API is, below the base path; "" for one that has Host names instead.
func apiPlace(a *catalog.API) string {
	if len(a.Hosts) > 0 {
		return ""
	}
	return "/api/" + a.Name + "/"
}

// asIs is the page of an API: where it is, and what is done with its answers.
func (s *Set) asIs(a *catalog.API, l i18n.Language) (view, error) {
	return view{
		Template: "api", Section: ReferencePath, Title: l.Of(a.Title), Description: summaryOf(a, l),
		Data: struct {
			Name, Title, Summary, Path string
			Hosts                      []string
			Host                       string // for the example
			Origin                     string // of the service
			Rules                      []string
		}{a.Name, l.Of(a.Title), summaryOf(a, l), apiPlace(a), a.Hosts, a.ExampleHost(), s.origin(), rulesOf(a, l)},
	}, nil
}
