package shortlink

import (
	"net/url"
	"slices"
	"strings"
)

// wrapper is a page that shows or warns of the link in its query.
type wrapper struct {
	host   string   // exact, also with www.
	paths  []string // exact, also with a / behind; nil for any
	params []string // the first that holds a link counts
	warns  bool     // it stands between because the link was reported
}

var wrappers = []wrapper{
	{host: "link.zhihu.com", params: []string{"target"}},
	{host: "link.csdn.net", params: []string{"target"}},
	{host: "link.juejin.cn", params: []string{"target"}},
	{host: "jianshu.com", paths: []string{"/go-wild"}, params: []string{"url"}},
	{host: "gitee.com", paths: []string{"/link"}, params: []string{"target"}},
	{host: "oschina.net", paths: []string{"/action/GoToLink"}, params: []string{"url"}},
	{host: "afdian.net", paths: []string{"/link"}, params: []string{"target"}},
	{host: "docs.qq.com", paths: []string{"/scenario/link.html"}, params: []string{"url"}},
	{host: "mail.qq.com", paths: []string{"/cgi-bin/readtemplate"}, params: []string{"gourl"}},
	{host: "c.pc.qq.com", paths: []string{"/middlem.html", "/pc.html", "/ios.html", "/android.html"}, params: []string{"pfurl", "url"}, warns: true},
	{host: "jump2.bdimg.com", paths: []string{"/safecheck", "/safecheck/index"}, params: []string{"url"}},
	{host: "weibo.cn", paths: []string{"/sinaurl"}, params: []string{"u", "toasturl"}},
	{host: "douban.com", paths: []string{"/link2"}, params: []string{"url"}},
	{host: "bitly.com", paths: []string{"/a/warning"}, params: []string{"url"}, warns: true},
	{host: "youtube.com", paths: []string{"/redirect"}, params: []string{"q"}},
	{host: "l.facebook.com", paths: []string{"/l.php"}, params: []string{"u"}},
	{host: "google.com", paths: []string{"/url"}, params: []string{"q", "url"}},
	{host: "steamcommunity.com", paths: []string{"/linkfilter"}, params: []string{"u", "url"}},
	{host: "vk.com", paths: []string{"/away.php"}, params: []string{"to"}},
}

// unwrap finds the link that a wrapper's query holds, nil without one.
func unwrap(u *url.URL) *found {
	for _, w := range wrappers {
		if !w.fits(u) {
			continue
		}
		query := u.Query()
		for _, name := range w.params {
			if target := wrapped(query.Get(name)); target != nil {
				return &found{target: target, via: "query", warned: w.warns}
			}
		}
	}
	return nil
}

func (w *wrapper) fits(u *url.URL) bool {
	name, path := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www."), strings.TrimSuffix(u.Path, "/")
	return name == w.host && (w.paths == nil || slices.Contains(w.paths, path))
}

// wrapped reads a link out of a query, where some leave out the scheme.
func wrapped(raw string) *url.URL {
	raw = strings.TrimSpace(raw)
	if raw == "" || strings.HasPrefix(raw, "/") && !strings.HasPrefix(raw, "//") {
		return nil
	}
	if scheme, _, ok := strings.Cut(raw, "://"); !ok || strings.ContainsAny(scheme, "./?#") {
		raw = "http://" + strings.TrimPrefix(raw, "//")
	}
	u, err := url.Parse(escaped(raw))
	if err != nil || !isWeb(u.Scheme) || u.User != nil || !strings.Contains(u.Hostname(), ".") && !strings.Contains(u.Hostname(), ":") {
		return nil
	}
	return u
}
