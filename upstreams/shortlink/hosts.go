package shortlink

import (
	"net/url"
	"slices"
	"strings"
)

// User-Agents. All say who asks; some shorteners redirect only what looks like
// a tool, or like a telephone, and answer others with a page.
const (
	honestAgent = "Mozilla/5.0 (compatible; Sundry/1.0)"
	toolAgent   = "curl/8 (compatible; Sundry/1.0)"
	mobileAgent = "Mozilla/5.0 (Linux; Android 14; Mobile) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0 Mobile Safari/537.36 (compatible; Sundry/1.0)"
)

// shortHosts are those of shorteners, with all names below them: what they
// redirect to is the long link.
var shortHosts = []string{
	"t.co", "t.cn", "sinaurl.cn", "b23.tv", "bili2233.cn", "url.cn", "douc.cc", "m.tb.cn",
	"v.douyin.com", "v.kuaishou.com", "xhslink.com",
	"dwz.cn", "sourl.cn", "suo.im", "mtw.so", "u6v.cn", "m6z.cn", "rrd.me", "985.so",
	"bit.ly", "j.mp", "tinyurl.com", "is.gd", "v.gd", "cutt.ly", "t.ly", "rebrand.ly", "buff.ly", "ow.ly",
	"goo.gl", "redd.it", "youtu.be", "we.tl", "amzn.to", "lnkd.in",
}

// under tells a URL whose host is one of these or below one.
func under(u *url.URL, hosts ...string) bool {
	name := strings.ToLower(u.Hostname())
	return slices.ContainsFunc(hosts, func(h string) bool { return name == h || strings.HasSuffix(name, "."+h) })
}

func isShort(u *url.URL) bool { return under(u, shortHosts...) }

// isBlock tells WeChat's warning page, which names its target only in a script
// of its own making.
func isBlock(u *url.URL) bool { return under(u, "weixin110.qq.com") }

// inFamily tells a URL of which the target is asked for, not the URL itself.
func inFamily(u *url.URL) bool {
	return isShort(u) || isBlock(u) || unwrap(u) != nil
}

func agentFor(u *url.URL) string {
	switch {
	case under(u, "t.co"):
		return toolAgent
	case under(u, "v.douyin.com", "v.kuaishou.com", "xhslink.com"):
		return mobileAgent
	}
	return honestAgent
}

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
