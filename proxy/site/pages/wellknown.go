package pages

import (
	"bytes"
	_ "embed" // llms.tmpl
	"fmt"
	"strings"
	"text/template"
	"time"

	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
)

// Paths of the files that crawlers, agents and finders of holes look for, below the base
// path.
const (
	robotsPath   = "/robots.txt"
	llmsPath     = "/llms.txt"
	securityPath = "/.well-known/security.txt"
)

// addWellKnown adds these files. Without a contact there is no security.txt.
func (s *Set) addWellKnown() {
	s.addFile(robotsPath, func() *Document { return newDocument(typeText, []byte(s.robots())) })
	s.places[llmsPath] = Place{File, once(s.llms)}
	if s.cfg.Contact != "" {
		// It says when it ends, and so is not made once and for all.
		s.places[securityPath] = Place{File, func(i18n.Language) (*Document, error) {
			return newPassing(typeText, []byte(securityText(s.cfg.Contact, time.Now()))), nil
		}}
	}
}

// robots lets crawlers read the pages, and keeps them from calling endpoints: each call may be
// one of an upstream.
func (s *Set) robots() string {
	return "User-agent: *\nDisallow: " + s.url("/api/") + "\n"
}

// securityText is a file of RFC 9116. It is valid for half a year, to the end of the day, so
// that all instances say the same.
func securityText(contact string, now time.Time) string {
	if strings.Contains(contact, "@") && !strings.Contains(contact, "://") {
		contact = "mailto:" + strings.TrimPrefix(contact, "mailto:")
	}
	expires := now.UTC().AddDate(0, 6, 0).Truncate(24 * time.Hour).Format(time.RFC3339)
	return fmt.Sprintf("Contact: %s\nExpires: %s\nPreferred-Languages: zh, en\n", contact, expires)
}

//go:embed llms.tmpl
var llmsText string

// llms describes the API to language models, as llmstxt.org has it, in English.
func (s *Set) llms(i18n.Language) (*Document, error) {
	t, err := template.New("llms.txt").Funcs(template.FuncMap{
		"url": s.url, "page": EndpointPath, "api": apiPath, "apiPage": apiPagePath, "apiPlace": apiPlace, "join": strings.Join,
		"apiSummary": func(a *catalog.API) string { return summaryOf(a, i18n.English) },
	}).Parse(llmsText)
	if err != nil {
		return nil, fmt.Errorf("template of %s: %w", llmsPath, err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, struct {
		Tools  string
		Groups []catalog.Group
		API    *apidoc.API
	}{s.cfg.Tools, s.cfg.API.Groups, s.cfg.API}); err != nil {
		return nil, fmt.Errorf("%s: %w", llmsPath, err)
	}
	return newDocument(typeText, b.Bytes()), nil
}
