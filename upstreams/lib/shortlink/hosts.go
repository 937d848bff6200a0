package shortlink

import (
	"net/url"
	"slices"
	"strings"

	"sundry/upstreams/lib/sharelink"
)

// User-Agents. All name this service; some shorteners redirect only clients that
// look like a tool, or like a phone, and send a page to others.
const (
	defaultAgent = "Mozilla/5.0 (compatible; Sundry/1.0)"
	toolAgent    = "curl/8 (compatible; Sundry/1.0)"
	mobileAgent  = "Mozilla/5.0 (Linux; Android 14; Mobile) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0 Mobile Safari/537.36 (compatible; Sundry/1.0)"
)

// shortHosts are the hosts of known shorteners, with all names below them: their
// redirect is the long link. Those of the platforms are in sharelink.
var shortHosts = []string{
	"sinaurl.cn", "url.cn", "douc.cc",
	"tb.cn", "u.jd.com", "3.cn", // Taobao's and JD's: m.tb.cn, e.tb.cn
	"dwz.cn", "sourl.cn", "suo.im", "mtw.so", "u6v.cn", "m6z.cn", "rrd.me", "985.so",
	"bit.ly", "j.mp", "tinyurl.com", "is.gd", "v.gd", "cutt.ly", "t.ly", "rebrand.ly", "buff.ly", "ow.ly",
	"goo.gl", "redd.it", "youtu.be", "we.tl", "amzn.to", "lnkd.in",
}

// under reports whether the host of a URL is one of these or below one.
func under(u *url.URL, hosts ...string) bool {
	name := strings.ToLower(u.Hostname())
	return slices.ContainsFunc(hosts, func(h string) bool { return name == h || strings.HasSuffix(name, "."+h) })
}

func isShort(u *url.URL) bool { return under(u, shortHosts...) || sharelink.IsShort(u) }

// isBlockPage recognises WeChat's warning page, which shows its target only by a
// script.
func isBlockPage(u *url.URL) bool { return under(u, "weixin110.qq.com") }

// isIntermediate reports whether a URL is a known redirect, never a target itself.
func isIntermediate(u *url.URL) bool {
	return isShort(u) || isBlockPage(u) || unwrap(u) != nil
}

func agentFor(u *url.URL) string {
	switch {
	case under(u, "t.co"):
		return toolAgent
	case under(u, "v.douyin.com", "jx.douyin.com", "v.kuaishou.com", "xhslink.com", "xhslink.cn"):
		return mobileAgent
	}
	return defaultAgent
}

// wrapper is a page that shows, or warns about, the link in its query.
type wrapper struct {
	host   string   // exact, also with www.
	paths  []string // exact, also with a trailing /; nil for any
	params []string // the first that contains a link counts
	warns  bool     // the page is shown because the link was reported
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

// unwrap returns the link in a wrapper's query, nil without one.
func unwrap(u *url.URL) *found {
	for _, w := range wrappers {
		if !w.matches(u) {
			continue
		}
		query := u.Query()
		for _, name := range w.params {
			if target := parseWrapped(query.Get(name)); target != nil {
				return &found{target: target, via: "query", warned: w.warns}
			}
		}
	}
	return nil
}

func (w *wrapper) matches(u *url.URL) bool {
	name, path := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www."), strings.TrimSuffix(u.Path, "/")
	return name == w.host && (w.paths == nil || slices.Contains(w.paths, path))
}

// parseWrapped parses a link in a query, where some omit the scheme.
func parseWrapped(raw string) *url.URL {
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
