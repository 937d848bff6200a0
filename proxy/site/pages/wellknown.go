package pages

import (
	"fmt"
	"strings"
	"time"

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
	s.addFile(llmsPath, func() *Document { return newDocument(typeText, []byte(s.llms())) })
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

// llms describes the API to language models, as llmstxt.org has it.
func (s *Set) llms() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Sundry

> Public, read-only HTTP endpoints: pictures, daily news, quotes and lookups. Call them with GET, without a key.

An answer in JSON is {"code":200,"message":"ok","data":{…}}; fields that are not known are null. An error has code, message and error.type, and the HTTP status
says the same. Texts are mostly Chinese. After 429 or 503, wait as long as Retry-After says.

- [OpenAPI](%s): all parameters, fields and errors
- [Docs](%s): the same for people
`, s.url(OpenAPIPath), s.url(ReferencePath))
	if s.cfg.Tools != "" {
		fmt.Fprintf(&b, "- [MCP](%s): the endpoints as tools, by the Model Context Protocol over streamable HTTP (POST), without a log-in\n", s.url(s.cfg.Tools))
	}
	for _, g := range s.cfg.API.Groups() {
		endpoints := s.cfg.API.InGroup(g.Name)
		if len(endpoints) > 0 {
			fmt.Fprintf(&b, "\n## %s\n\n", g.EN)
		}
		for _, e := range endpoints {
			s.llmsEndpoint(&b, e)
		}
	}
	return b.String()
}

func (s *Set) llmsEndpoint(b *strings.Builder, e *catalog.Endpoint) {
	fmt.Fprintf(b, "- [%s](%s): %s\n", e.Name, s.url(EndpointPath(e)), e.EN)
	fmt.Fprintf(b, "  - GET %s\n", s.url(apiPath(e)))
	for _, p := range e.Params {
		if p.Derived() {
			continue
		}
		need := ""
		if p.Required {
			need = ", required"
		}
		fmt.Fprintf(b, "  - `%s` (%s%s): %s\n", p.Name, p.Allowed, need, p.EN)
	}
}
