package pages

import (
	"bytes"
	"embed"
	"fmt"
	"html"
	"html/template"
	"net/url"
	"strings"
	"sync"
	"time"

	"sundry/proxy/site/i18n"
	"sundry/proxy/site/status"
)

//go:embed *.html
var templateFiles embed.FS

// view is what a page's template gets: its words are in the template, or bilingual texts
// of the catalog.
type view struct {
	// Template is the name of its file, without the ending.
	Template string
	// Path of the page, below the base path; "" for one that stands for missing pages. The
	// set fills it in.
	Path string
	// Title of the page, without the name of the service; "" for that name alone.
	Title string
	// Description is a sentence for search engines.
	Description string
	// Section is the path of the item of the navigation that the page belongs to.
	Section string
	// Redirects: a form on the page may be redirected to other sites.
	Redirects bool
	// Data is what the template shows.
	Data any
}

// pageTemplates are the names of the templates that layout.html surrounds.
func pageTemplates() []string {
	return []string{"api", "home", "missing", "overview", "reference", "status"}
}

// parsed returns the templates of all pages, by name. They are parsed once in a process. The words of both languages stand beside each
// other in them, as in {{say "Search" "搜索"}}; which functions those words call depends on the set.
var parsed = sync.OnceValues(func() (map[string]*template.Template, error) {
	layout, err := template.New("layout.html").Funcs((&Set{}).words(i18n.English)).ParseFS(templateFiles, "layout.html")
	if err != nil {
		return nil, err
	}
	all := map[string]*template.Template{}
	for _, name := range pageTemplates() {
		own, err := layout.Clone()
		if err != nil {
			return nil, err
		}
		if all[name], err = own.ParseFS(templateFiles, name+".html"); err != nil {
			return nil, err
		}
	}
	return all, nil
})

// templateKey is the name of a template, and the language of its page.
type templateKey struct {
	language i18n.Language
	name     string
}

// addTemplates makes the templates of the set, each when it is needed first.
func (s *Set) addTemplates() error {
	all, err := parsed()
	if err != nil {
		return fmt.Errorf("templates of the pages: %w", err)
	}
	s.templates = map[templateKey]func() (*template.Template, error){}
	for _, l := range i18n.All() {
		for name, t := range all {
			s.templates[templateKey{l, name}] = sync.OnceValues(func() (*template.Template, error) {
				own, err := t.Clone()
				if err != nil {
					return nil, err
				}
				return own.Funcs(s.words(l)), nil
			})
		}
	}
	return nil
}

// execute fills the template of a page in.
func (s *Set) execute(l i18n.Language, v *view) ([]byte, error) {
	t, err := s.templates[templateKey{l, v.Template}]()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, v)
	return b.Bytes(), err
}

// words are the functions of the templates in a language.
func (s *Set) words(l i18n.Language) template.FuncMap {
	return template.FuncMap{
		// say chooses a text of those in English and in Chinese.
		"say": l.Say,
		// tell is say, with what stands between backquotes as code.
		"tell": func(en, zh string) template.HTML { return coded(l.Say(en, zh)) },
		// lang is the language of the page for the attribute lang.
		"lang": l.Tag,
		// sections are the items of the navigation.
		"sections": func() []section { return sections(l) },
		// code is the language of the page for the parameter lang.
		"code":      l.String,
		"languages": i18n.All,
		// public is the address of a page for search engines; "" where nobody knows it, or there
		// is no page.
		"public": func(path string) string {
			if s.cfg.PublicURL == "" || path == "" {
				return ""
			}
			return s.cfg.PublicURL + s.url(path)
		},
		// nameOf is the name of a language in itself.
		"nameOf": func(l i18n.Language) string { return l.Say("English", "中文") },
		// Of the status: what a state is called, a time, and the drawings of bars.
		"state": func(of status.State) string { return stateWord(l, of) },
		"time":  func(at time.Time) statusTime { return timeIn(l, at) },
		"bar":   oneBar,
		// Of its incidents.
		"title": func(in *status.Incident) string { return s.incidentTitle(l, in) },
		"spell": func(in *status.Incident, of status.Spell) string { return s.spellWords(l, in, of) }, "anchor": incidentAnchor,
		// menu lists what the reference has pages of, beginning with is the place of a name in it.
		"menu":   func() []homeGroup { return s.groups(l) },
		"around": func(name string) neighbours { return s.around(l, name) },
		// endpoints: there are any, and not only APIs as they are.
		"endpoints": func() bool { return len(s.cfg.API.Endpoints) > 0 },
		"replay":    func() bool { return s.cfg.Replay },
		// url is the link to a path below the base path.
		"url": s.url,
		// asset is the link to an asset, by its name without the hash.
		"asset": s.assets.url,
	}
}

// coded is a text in HTML, with what stands between backquotes as code.
func coded(text string) template.HTML {
	var b strings.Builder
	for i, part := range strings.Split(html.EscapeString(text), "`") {
		if i%2 == 1 {
			part = "<code>" + part + "</code>"
		}
		b.WriteString(part)
	}
	return template.HTML(b.String()) //nolint:gosec // it is escaped above
}

// section is an item of the navigation.
type section struct{ Path, Title string }

// sections are the items of the navigation.
func sections(l i18n.Language) []section {
	return []section{
		{HomePath, l.Say("Home", "首页")}, {ReferencePath, l.Say("Docs", "文档")}, {StatusPath, l.Say("Status", "状态")}, {OpenAPIPath, "OpenAPI (JSON)"},
	}
}

// url is the link to a path below the base path.
func (s *Set) url(path string) string { return (&url.URL{Path: s.cfg.BasePath + path}).EscapedPath() }

// render makes the document of a page.
func (s *Set) render(l i18n.Language, v view) (*Document, error) {
	text, err := s.execute(l, &v)
	if err != nil {
		return nil, err
	}
	d := newDocument(typeHTML, text)
	if v.Redirects {
		d.CSP = redirectingCSP
	}
	return d, nil
}
