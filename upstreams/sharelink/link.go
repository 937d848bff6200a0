// Package sharelink recognises what people paste from short-video apps, and
// promises that nothing is recognised by a part of it: a link is parsed, its
// host is one of a table, whole or below a name of the table, and the URL that
// comes out is composed anew of that host and a checked id. So a URL of a Link
// that is fetched can only lead to a platform. The package also takes the JSON
// out of the platforms' pages. It makes no connections.
package sharelink

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// Link is a recognised link to one work, or a short one that must be followed
// to learn the work. Equal works of equal Kind and Extra have equal Links,
// whatever host, path and tracking they came with. Don't change Extra: Links
// are passed by value and share it.
type Link struct {
	// Platform is douyin, kuaishou, bilibili, xiaohongshu, weibo, pipixia,
	// weishi, zuiyou, huya or pipigaoxiao.
	Platform string
	// ID as the platform writes it, up to 85 characters; never a number, since
	// many are beyond 2⁵³. It is empty when Short.
	ID string
	// Kind is what the link says the work is, or empty where it does not say:
	// video, note or slides (douyin; a modal_id does not say and counts as
	// video, whose page answers for all three), video or long-video
	// (kuaishou), video or opus (bilibili), note (xiaohongshu), status or oid
	// (weibo). Empty when Short.
	Kind string
	// Short links must be followed: see Follow.
	Short bool
	// URL is canonical: https, without what only tracks. See String.
	URL string
	// Extra is nil, or holds what else matters: xsec_token (xiaohongshu, to
	// fetch the note), page (bilibili, from 2 up), mid (weibo, the status that
	// an oid belongs to).
	Extra map[string]string
}

// String is the canonical URL. Parse gives the same Link for it.
func (l Link) String() string { return l.URL }

// Parse recognises a link, or the first one within a share text. Its scheme
// may be missing when the host is in the table and begins the word, and the
// text may be percent-encoded once too often. The error is, or wraps,
// ErrNoLink, ErrMalformed, a *UnsupportedError, or ErrElsewhere: all of them
// the caller's doing. None repeats more of the text than the host.
func Parse(raw string) (Link, error) {
	found, err := locate(raw)
	if err != nil {
		return Link{}, err
	}
	u, err := url.Parse(found)
	if err != nil { // its text repeats the URL, credentials and all
		return Link{}, ErrMalformed
	}
	return recognise(u)
}

// recognise checks an absolute URL and reads it by the rules of its platform.
func recognise(u *url.URL) (Link, error) {
	host, err := checkedHost(u)
	if err != nil {
		return Link{}, err
	}
	p := platformOf(host)
	if p == nil {
		return Link{}, &UnsupportedError{Host: host}
	}
	l, ok := p.read(address{host: host, path: u.Path, query: u.Query()})
	if !ok {
		return Link{}, fmt.Errorf("read a link of %s: %w", p.label, ErrElsewhere)
	}
	l.Platform = p.name
	return l, nil
}

// checkedHost is the host in lower case, without a port and a final dot.
func checkedHost(u *url.URL) (string, error) {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	_, notAddress := netip.ParseAddr(host)
	port := u.Port()
	switch {
	case u.Scheme != "http" && u.Scheme != "https",
		u.User != nil,
		host == "",
		notAddress == nil,
		port != "" && port != "80" && port != "443":
		return "", ErrMalformed
	}
	return host, nil
}

// Data is the link as JSON has it: platform, id, kind, short, url and extra.
func (l Link) Data() map[string]any {
	extra := make(map[string]any, len(l.Extra))
	for k, v := range l.Extra {
		extra[k] = v
	}
	return map[string]any{"platform": l.Platform, "id": l.ID, "kind": l.Kind, "short": l.Short, "url": l.URL, "extra": extra}
}

var (
	// ErrNoLink means that a text holds nothing that looks like a link.
	ErrNoLink = errors.New("no share link found; expected one of " + supported())
	// ErrMalformed refuses a link that no app shares.
	ErrMalformed = errors.New("link must be http or https to a host by its name, without credentials, on port 80 or 443")
	// ErrElsewhere means that a link does not lead to a work of its platform:
	// to a profile, a live room, a front page, another site.
	ErrElsewhere = errors.New("link does not lead to a video or post")
	// ErrChallenge means that a short link led to a captcha, a log-in or the
	// like. The platform distrusts us; the link may be fine.
	ErrChallenge = errors.New("platform asks for proof of a human")
)

// UnsupportedError refuses a host that is not in the table.
type UnsupportedError struct {
	Host string // in lower case; a stranger chose it
}

// Error quotes the host and cuts it at 100 characters.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("links to %.100q are not supported; expected one of %s", e.Host, supported())
}

func supported() string { return strings.Join(Platforms(), ", ") }
