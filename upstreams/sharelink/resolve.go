package sharelink

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Follow reads where a short link led: the Location of a reply to a request
// for its URL, relative or not. What comes back is of the same platform, and
// may again be short; how often to follow is the caller's to bound. The error
// is, or wraps, ErrChallenge when the platform wants proof of a human, and
// ErrElsewhere for everything else that is not a work, which includes an empty
// Location and another platform's link. Links that are not Short can't be
// followed.
func (l Link) Follow(location string) (Link, error) {
	if !l.Short {
		return Link{}, fmt.Errorf("follow %s: it is no short link", l.URL)
	}
	u, err := l.resolve(location)
	if err != nil {
		return Link{}, err
	}
	if challenges(u) {
		return Link{}, fmt.Errorf("follow %s to %.100q: %w", l.URL, u.Host, ErrChallenge)
	}
	// Why it is none of ours does not matter here: nobody wrote it by mistake.
	next, err := recognise(u)
	if err != nil || next.Platform != l.Platform {
		return Link{}, fmt.Errorf("follow %s to %.100q: %w", l.URL, u.Host, ErrElsewhere)
	}
	return next, nil
}

// resolve reads a Location relative to the link.
func (l Link) resolve(location string) (*url.URL, error) {
	base, err := url.Parse(l.URL)
	if err != nil {
		return nil, fmt.Errorf("follow %.100q: %w", l.URL, ErrMalformed)
	}
	if location == "" || len(location) > maxText {
		return nil, fmt.Errorf("follow %s to a Location of %d bytes: %w", l.URL, len(location), ErrElsewhere)
	}
	u, err := base.Parse(location)
	if err != nil {
		return nil, fmt.Errorf("follow %s to what is no URL: %w", l.URL, ErrElsewhere)
	}
	return u, nil
}

// challenges tells whether a part of the host or of the path is named like a
// platform's risk control. It decides about the error only.
func challenges(u *url.URL) bool {
	parts := strings.FieldsFunc(strings.ToLower(u.Hostname()+"/"+u.Path), func(r rune) bool { return r == '/' || r == '.' || r == '_' })
	return slices.ContainsFunc(parts, func(part string) bool {
		return slices.ContainsFunc([]string{"new-reco", "security", "captcha", "passport"}, func(name string) bool {
			return part == name || strings.HasPrefix(part, name+"-") || strings.HasSuffix(part, "-"+name)
		})
	})
}
