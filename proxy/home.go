package proxy

import (
	"bytes"
	"embed"
	"html/template"
	"net/url"

	"sundry/upstreams/catalog"
)

//go:embed home.html
var pages embed.FS

type homeGroup struct {
	EN, ZH    string
	Endpoints []homeEndpoint
}

type homeEndpoint struct {
	Name, EN, ZH string
	Links        []string
}

// renderHome makes the page for people once per catalog.
func renderHome(c *catalog.Catalog, base string) ([]byte, error) {
	t, err := template.ParseFS(pages, "home.html")
	if err != nil {
		return nil, err
	}
	titles := map[string][2]string{
		"images": {"Images and wallpapers", "图片与壁纸"}, "media": {"Media", "影音"},
		"lookups": {"Lookups", "查询"}, "text": {"Text and daily content", "文字与每日内容"},
	}
	var groups []homeGroup
	last := ""
	for _, e := range c.Endpoints {
		if e.Group != last {
			groups = append(groups, homeGroup{EN: titles[e.Group][0], ZH: titles[e.Group][1]})
			last = e.Group
		}
		g := &groups[len(groups)-1]
		g.Endpoints = append(g.Endpoints, homeEndpoint{e.Name, e.EN, e.ZH, exampleLinks(e, base)})
	}
	var b bytes.Buffer
	err = t.Execute(&b, groups)
	return b.Bytes(), err
}

// exampleLinks are a call with the example input in every form.
func exampleLinks(e *catalog.Endpoint, base string) []string {
	path := base + "/api/" + e.Name + "/index.php"
	var links []string
	for _, q := range e.Examples() {
		if q != "" {
			q = "?" + q
		}
		links = append(links, (&url.URL{Path: path}).EscapedPath()+q)
	}
	return links
}
