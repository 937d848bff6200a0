package pages

import (
	"bytes"
	"embed"
	"html/template"
	"net/url"

	"sundry/upstreams/catalog"
	"sundry/upstreams/recorded"
)

//go:embed home.html reference.html
var templates embed.FS

type homeGroup struct {
	catalog.Group
	Endpoints []homeEndpoint
}

type homeEndpoint struct {
	Name, EN, ZH string
	Links        []homeLink
}

type homeLink struct{ URL, As string }

// renderHome generates the home page.
func renderHome(c *catalog.Catalog, base string) ([]byte, error) {
	t, err := template.ParseFS(templates, "home.html")
	if err != nil {
		return nil, err
	}
	var groups []homeGroup
	for _, g := range c.Groups() {
		group := homeGroup{Group: g}
		for _, e := range c.InGroup(g.Name) {
			group.Endpoints = append(group.Endpoints, homeEndpoint{e.Name, e.EN, e.ZH, links(e, base)})
		}
		groups = append(groups, group)
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{"Groups": groups, "Base": base})
	return b.Bytes(), err
}

// links returns the example calls of an endpoint.
func links(e *catalog.Endpoint, base string) []homeLink {
	path := (&url.URL{Path: base + "/api/" + e.Name + "/index.php"}).EscapedPath()
	var out []homeLink
	for _, c := range recorded.Calls(e) {
		link := homeLink{URL: path, As: c.As}
		if c.Query != "" {
			link.URL += "?" + c.Query
		}
		out = append(out, link)
	}
	return out
}
