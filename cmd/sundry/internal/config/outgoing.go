package config

import (
	"errors"
	"slices"
	"strings"

	"sundry/metrics/words"
	"sundry/upstreams"
	"sundry/upstreams/declare"
)

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
		return "", words.NewError("expected an endpoint, or an endpoint and a source, with the URL of its proxy or direct, such as vidparse=socks5://127.0.0.1:1080 or vidparse/bilibili=direct",
			"应为接口，或接口/数据源，加上代理的 URL 或 direct，例如 vidparse=socks5://127.0.0.1:1080 或 vidparse/bilibili=direct")
	}
	if _, err := upstreams.ParseProxy(address); err != nil {
		return "", words.Errorf("%s: %s", "%s：%s", name, words.Of(err, words.Name(err.Error())))
	}
	return s, nil
}

// OutgoingProxies are those of the settings, which were checked.
func (c *Config) OutgoingProxies() upstreams.Proxies {
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

// UnknownProxies returns an error for proxies that would never be used, because
// their endpoint or source is not among those that are known.
func (c *Config) UnknownProxies(known []string) error {
	var mistakes []error
	for _, rule := range c.Proxies {
		if name, _, _ := strings.Cut(rule, "="); !slices.Contains(known, name) {
			mistakes = append(mistakes, c.Mistake("proxies", declare.Say("%s: unknown endpoint or source%s", name, declare.Suggestion(name, known))))
		}
	}
	return errors.Join(mistakes...)
}

// Agents are the User-Agents of requests. version is that of the program.
func (c *Config) Agents(version string) upstreams.Agents {
	agents := upstreams.DefaultAgents()
	agents.Own = "Sundry/" + strings.Trim(version, "()")
	if c.Contact != "" {
		agents.Own += " (+" + c.Contact + ")"
	}
	if c.UserAgent != "" {
		agents.Browser = c.UserAgent
	}
	return agents
}
