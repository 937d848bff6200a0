package catalog

import (
	"errors"
	"fmt"
	"strings"

	"sundry/upstreams/favicon"
	"sundry/upstreams/geoip"
	"sundry/upstreams/idcard"
	"sundry/upstreams/minecraft"
	"sundry/upstreams/sharelink"
	"sundry/upstreams/shortlink"
	"sundry/upstreams/waybill"
)

// spelling is a type of text with a canonical spelling.
type spelling struct {
	allowed string // in words
	parse   func(string) (any, error)
}

// spellings are the types whose values are brought into one spelling, so that
// equal things share an answer.
func spellings() map[string]spelling {
	return map[string]spelling{
		"ip":      {"an IPv4 or IPv6 address", parseIP},
		"host":    {"a server name or address, with an optional port, as in mc.example.org or 203.0.113.5:25566", parseHost},
		"site":    {"a domain, or a page of it, as in example.org or https://example.org/about", canonical(favicon.Host)},
		"url":     {"an http or https link", canonical(shortlink.Normalize)},
		"share":   {"a share link, or a text with one in it, of 抖音, 快手, 哔哩哔哩, 小红书, 微博, 皮皮虾, 微视, 最右, 虎牙 or 皮皮搞笑", parseShare},
		"waybill": {"6 to 40 letters and digits", canonical(waybill.Normalize)},
		"idcard":  {"17 digits and a digit or X, or 15 digits", canonical(idcard.Normalize)},
	}
}

// canonical makes a parser of a function that spells.
func canonical(spell func(string) (string, error)) func(string) (any, error) {
	return func(v string) (any, error) {
		s, err := spell(v)
		if err != nil {
			return nil, &misspelt{err}
		}
		return s, nil
	}
}

// misspelt says what is wrong, without what would be right: the parameter's
// own words follow.
type misspelt struct{ err error }

func (m *misspelt) Error() string {
	s := m.err.Error()
	for _, wanted := range []string{": want ", "; want ", ", want ", "; wanted is "} {
		s, _, _ = strings.Cut(s, wanted)
	}
	if strings.HasPrefix(s, "want ") {
		return "is none"
	}
	return "cannot be taken: " + s
}

func (m *misspelt) Unwrap() error { return m.err }

func parseIP(v string) (any, error) {
	a, err := geoip.ParseAddr(v)
	if err != nil {
		return nil, errors.New("is no IP address")
	}
	return a.String(), nil
}

func parseHost(v string) (any, error) {
	t, err := minecraft.ParseTarget(v)
	if err != nil {
		return nil, fmt.Errorf("is no server address: %w", err)
	}
	return t.String(), nil
}

func parseShare(v string) (any, error) {
	l, err := sharelink.Parse(v)
	if err != nil {
		return nil, &misspelt{err}
	}
	return l.String(), nil
}

// targetsForbidden tells a mistake that is about where a value leads, rather
// than how it is spelled.
func targetsForbidden(err error) bool {
	return errors.Is(err, favicon.ErrForbidden) || errors.Is(err, shortlink.ErrForbidden)
}
