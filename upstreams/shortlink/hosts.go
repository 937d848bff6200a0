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
