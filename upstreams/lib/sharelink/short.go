package sharelink

import (
	"net/url"
	"slices"
	"strings"
)

// shortHosts are the hosts of the platforms that have nothing but short links.
var shortHosts = []string{
	"v.douyin.com", "jx.douyin.com", "v.kuaishou.com", "b23.tv", "bili2233.cn", "xhslink.com", "xhslink.cn", "t.cn",
	"video.weishi.qq.com", "v.ixigua.com", "t.co", "vm.tiktok.com", "vt.tiktok.com", "s.lofter.com",
}

// IsShort reports whether a URL is a short link of a platform: it is on a host that has
// no other links, or below one, or has a path of short links.
func IsShort(u *url.URL) bool {
	name := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if slices.ContainsFunc(shortHosts, func(h string) bool { return name == h || strings.HasSuffix(name, "."+h) }) {
		return true
	}
	l, err := recognise(u)
	return err == nil && l.Short
}

// IsHost reports whether the platforms have links on a host, in any case.
func IsHost(host string) bool {
	return platformOf(strings.TrimSuffix(strings.ToLower(host), ".")) != nil
}
