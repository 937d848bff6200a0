package main

import (
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strings"

	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
)

// maxAgent bounds a User-Agent; those of browsers are shorter.
const maxAgent = 512

// parseContact reads an e-mail address, or the URL of a page.
func parseContact(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	if !printable(s) || strings.ContainsAny(s, "() ") {
		return "", errInvalid
	}
	if u, err := url.Parse(s); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil {
		return s, nil
	}
	if a, err := mail.ParseAddress(s); err != nil || a.Address != s {
		return "", errInvalid
	}
	return s, nil
}

func parseAgent(s string) (string, error) {
	if len(s) > maxAgent || !printable(s) || strings.TrimSpace(s) != s {
		return "", errInvalid
	}
	return s, nil
}

// printable reports whether a text can stand in a header.
func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// parseProxy reads the address of a proxy; "" for that of the environment.
func parseProxy(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	_, err := upstreams.ParseProxy(s)
	return s, err
}

// parseProxyOf reads the proxy of an endpoint or of one of its sources.
func parseProxyOf(s string) (string, error) {
	name, address, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return "", errors.New("expected an endpoint, or an endpoint and a source, with the URL of its proxy or direct, such as vidparse=socks5://127.0.0.1:1080 or vidparse/bilibili=direct")
	}
	if _, err := upstreams.ParseProxy(address); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// proxies are those of the settings, which were checked.
func (c *config) proxies() upstreams.Proxies {
	out := upstreams.Proxies{Of: map[string]*upstreams.Proxy{}}
	if p, err := upstreams.ParseProxy(c.Proxy); c.Proxy != "" && err == nil {
		out.Default = &p
	}
	for _, rule := range c.Proxies {
		name, address, _ := strings.Cut(rule, "=")
		if p, err := upstreams.ParseProxy(address); err == nil {
			out.Of[name] = &p
		}
	}
	return out
}

// unknownProxies returns an error for proxies that would never be used, because
// their endpoint or source is unknown.
func (c *config) unknownProxies(set *catalog.Catalog) error {
	known := subjects(set)
	var mistakes []error
	for _, rule := range c.Proxies {
		if name, _, _ := strings.Cut(rule, "="); !slices.Contains(known, name) {
			mistakes = append(mistakes, c.places["proxies"].mistake(fmt.Sprintf("proxies: %s: unknown endpoint or source%s", name, declare.Suggestion(name, known))))
		}
	}
	return errors.Join(mistakes...)
}

// agents are the User-Agents of requests.
func (c *config) agents() upstreams.Agents {
	agents := upstreams.DefaultAgents()
	agents.Own = "Sundry/" + strings.Trim(version(), "()")
	if c.Contact != "" {
		agents.Own += " (+" + c.Contact + ")"
	}
	if c.UserAgent != "" {
		agents.Browser = c.UserAgent
	}
	return agents
}
