package sharelink

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Resolve returns the link to which a short one redirects. The location is that of
// the response to a request for its URL, relative or absolute. The result is a link
// of the same platform, and may be short again: the caller must bound the number of
// redirects. The error is, or wraps, ErrChallenge if the platform requires a captcha
// or login, and ErrNotPost for anything else that is not a post, which includes an
// empty location and another platform's link. Links that are not Short cannot be
// resolved.
func (l Link) Resolve(location string) (Link, error) {
	if !l.Short {
		return Link{}, fmt.Errorf("resolve %s: not a short link", l.URL)
	}
	u, err := l.parseLocation(location)
	if err != nil {
		return Link{}, err
	}
	if isChallenge(u) {
		return Link{}, fmt.Errorf("resolve %s: redirect to %.100q: %w", l.URL, u.Host, ErrChallenge)
	}
	// The reason is dropped: it would be meant for callers, who did not write this URL.
	next, err := recognise(u)
	if err != nil || next.Platform != l.Platform {
		return Link{}, fmt.Errorf("resolve %s: redirect to %.100q: %w", l.URL, u.Host, ErrNotPost)
	}
	return next, nil
}

// ScriptedForBrowsers reports whether the host of a short link sends browsers a
// page whose script leads on, and redirects other clients only.
func (l Link) ScriptedForBrowsers() bool {
	return l.Short && (l.Platform == "twitter" || l.Platform == "tiktok")
}

// parseLocation parses a Location relative to the link.
func (l Link) parseLocation(location string) (*url.URL, error) {
	base, err := url.Parse(l.URL)
	if err != nil {
		return nil, fmt.Errorf("resolve %.100q: %w", l.URL, ErrMalformed)
	}
	if location == "" || len(location) > maxText {
		return nil, fmt.Errorf("resolve %s: Location of %d bytes: %w", l.URL, len(location), ErrNotPost)
	}
	u, err := base.Parse(location)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: Location is not a URL: %w", l.URL, ErrNotPost)
	}
	return u, nil
}

// isChallenge reports whether a part of the host or of the path has a name of a
// platform's bot protection. It only selects the error.
func isChallenge(u *url.URL) bool {
	parts := strings.FieldsFunc(strings.ToLower(u.Hostname()+"/"+u.Path), func(r rune) bool { return r == '/' || r == '.' || r == '_' })
	return slices.ContainsFunc(parts, func(part string) bool {
		return slices.ContainsFunc([]string{"new-reco", "security", "captcha", "passport"}, func(name string) bool {
			return part == name || strings.HasPrefix(part, name+"-") || strings.HasSuffix(part, "-"+name)
		})
	})
}
