// Package sharelink recognises the links that short-video apps share, in the texts
// that people paste. It promises that no link is recognised by a part of it: it is
// parsed, its host must be in a table or below a name of the table, and the
// returned URL is built from that host and a checked id. So requests to the URL of
// a Link only go to the platforms. The package also extracts the JSON of the
// platforms' pages. It makes no connections.
package sharelink

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"sundry/metrics/words"
)

// Link is a recognised link to one post, or a short one that must be resolved to
// find the post. Equal posts of equal Kind and Extra have equal Links, whichever
// host, path and tracking parameters they had. Don't change Extra: Links
// are passed by value and share it.
type Link struct {
	// Platform is a name of the table, such as douyin.
	Platform string
	// ID as the platform writes it, up to 85 characters. It is text, since many
	// ids exceed 2⁵³. It is empty when Short.
	ID string
	// Kind is the kind of post according to the link, or empty if the link does
	// not say: video, note or slides (douyin; a modal_id does not say and counts
	// as video, whose page serves all three), video or long-video
	// (kuaishou), video or opus (bilibili), note (xiaohongshu), status or oid
	// (weibo). Empty when Short.
	Kind string
	// Short links must be resolved: see Resolve.
	Short bool
	// URL is canonical: https, without tracking parameters. Parse returns the same Link for
	// it.
	URL string
	// Extra is nil, or has what else is needed: xsec_token (xiaohongshu, to
	// fetch the note), page (bilibili and acfun, from 2 up), mid (weibo, the
	// status that an oid belongs to), account (bluesky, a name or DID), blog and
	// post (lofter, in base 10), share (doubao), day (cctv).
	Extra map[string]string
}

// Parse recognises a link, or the first one in a share text. Its scheme may be
// missing if the host is in the table and begins the word, and the text may be
// percent-encoded once too often. The error is of a host that is
// not in the table, or wraps ErrNoLink, ErrMalformed or ErrNotPost: all of them are
// mistakes of the caller. None contains more of the text than the host, which is cut at
// 100 characters.
func Parse(raw string) (Link, error) {
	found, err := locate(raw)
	if err != nil {
		return Link{}, err
	}
	u, err := url.Parse(found)
	if err != nil { // its text contains the URL with its credentials
		return Link{}, ErrMalformed
	}
	return recognise(u)
}

// recognise checks an absolute URL and parses it by the rules of its platform.
func recognise(u *url.URL) (Link, error) {
	host, err := checkedHost(u)
	if err != nil {
		return Link{}, err
	}
	p := platformOf(host)
	if p == nil {
		return Link{}, words.Because(fmt.Errorf("links to %.100q are not supported; expected one of %s", host, supported()),
			"leads to a platform that is not supported", "指向不支持的平台")
	}
	l, ok := p.parse(address{host: host, path: u.Path, query: u.Query(), fragment: u.Fragment})
	if !ok {
		return Link{}, fmt.Errorf("link of %s: %w", p.label.EN(), ErrNotPost)
	}
	l.Platform = p.name
	return l, nil
}

// checkedHost is the host in lower case, without port and final dot.
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

// Data is the link as JSON-ready values: platform, id, kind, short, url and extra.
func (l Link) Data() map[string]any {
	extra := make(map[string]any, len(l.Extra))
	for k, v := range l.Extra {
		extra[k] = v
	}
	return map[string]any{"platform": l.Platform, "id": l.ID, "kind": l.Kind, "short": l.Short, "url": l.URL, "extra": extra}
}

var (
	// ErrNoLink means that a text contains no link.
	ErrNoLink error = words.Because(errors.New("no share link found; expected one of "+supported()),
		"contains no share link", "不含分享链接")
	// ErrMalformed refuses a URL of a form that no app shares.
	ErrMalformed error = words.Because(errors.New("link must be http or https with a host name, without credentials, on port 80 or 443"),
		"is not an http or https link to a host name, without credentials, on port 80 or 443",
		"须为指向域名的 http 或 https 链接，不含用户名和密码，端口为 80 或 443")
	// ErrNotPost means that a link is not one to a post of its platform, but to a
	// profile, a live room, a home page, another site.
	ErrNotPost error = words.Because(errors.New("not a link to a video or post"),
		"is not a link to a video or post", "不是视频或帖子的链接")
	// ErrChallenge means that a short link redirected to a captcha, a login or the
	// like. The platform rejects this client; the link may be valid.
	ErrChallenge = errors.New("platform requires a captcha or login")
)

func supported() string { return words.List(Platforms()...).EN() }
