package sharelink

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func parsed(t *testing.T, raw string) Link {
	t.Helper()
	l, err := Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestResolve(t *testing.T) {
	for _, tt := range []struct{ from, location, want string }{
		{"https://v.douyin.com/abc/", "https://www.iesdouyin.com/share/slides/" + aweme + "/?region=CN&mid=1&share_sign=x", "https://www.iesdouyin.com/share/slides/" + aweme + "/"},
		{"https://v.douyin.com/abc/", "//www.douyin.com/video/" + aweme, "https://www.iesdouyin.com/share/video/" + aweme + "/"},
		{"https://jx.douyin.com/abc/", "https://v.douyin.com/def/", "https://v.douyin.com/def/"},
		{"https://v.douyin.com/abc", "/def", "https://v.douyin.com/def/"},
		{"https://v.kuaishou.com/abc", "https://k7qz.m.chenzhongtech.com/fw/long-video/3xabc?fid=1&title=中文", "https://m.gifshow.com/fw/long-video/3xabc"},
		{"https://v.kuaishou.com/abc", "https://www.kuaishou.com/f/X-9", "https://www.kuaishou.com/f/X-9"},
		{"https://b23.tv/abc", "https://www.bilibili.com/video/BV1xx411c7mD?p=1&share_source=copy", "https://www.bilibili.com/video/BV1xx411c7mD"},
		{"https://xhslink.com/o/abc", "http://www.xiaohongshu.com/discovery/item/" + note + "?app_platform=ios&xsec_token=CBvg%3D", "https://www.xiaohongshu.com/discovery/item/" + note + "?xsec_token=CBvg%3D"},
		{"https://t.cn/abc", "https://video.weibo.com/show?fid=1034:48", "https://weibo.com/tv/show/1034:48"},
		{"https://h5.pipix.com/s/abc/", "/item/7000000000000000002?x=1", "https://h5.pipix.com/item/7000000000000000002"},
		{"https://video.weishi.qq.com/abc", "https://isee.weishi.qq.com/ws/index.html?id=7abc", "https://h5.weishi.qq.com/weishi/feed/7abc"},
		{"https://t.co/abc", "https://twitter.com/jack/status/20?s=20", "https://x.com/i/status/20"},
		{"https://vm.tiktok.com/abc/", "https://www.tiktok.com/@user.name/photo/7106798200794926362?_t=8&_r=1", "https://www.tiktok.com/@_/video/7106798200794926362"},
		{"https://vt.tiktok.com/abc", "https://www.tiktok.com/t/def/", "https://www.tiktok.com/t/def/"},
		{"https://www.tiktok.com/t/abc", "https://m.tiktok.com/v/7106798200794926362.html?_d=x", "https://www.tiktok.com/@_/video/7106798200794926362"},
		{"https://s.lofter.com/-s/abc", "https://blog-1.lofter.com/post/1d3f_2bc01?sharefrom=lofter", "https://blog-1.lofter.com/post/1d3f_2bc01"},
		{"https://v.kuaishou.com/abc", "https://m.gifshow.com/fw/photo/3xcaptcha9", "https://www.kuaishou.com/short-video/3xcaptcha9"},
	} {
		got, err := parsed(t, tt.from).Resolve(tt.location)
		if diff := cmp.Diff(parsed(t, tt.want), got); err != nil || diff != "" || got.URL != tt.want {
			t.Errorf("%s to %s: %v %v\n%s", tt.from, tt.location, got, err, diff)
		}
	}
}

func TestResolveToAnotherPage(t *testing.T) {
	from := map[string][]string{
		"https://v.douyin.com/abc/": {
			"", "/", "https://www.douyin.com/", "https://www.douyin.com/user/MS4w", "https://webcast.amemv.com/douyin/webcast/reflow/7400000000000000001", "https://m.ixigua.com/video/1", "https://www.iesdouyin.com/share/user/1",
			"https://www.bilibili.com/video/BV1xx411c7mD", "snssdk1128://aweme/detail/" + aweme, "javascript:alert(1)", "file:///etc/passwd", "https://127.0.0.1/", "http://[::1]/share/video/1", "https://user@www.douyin.com/video/1",
			"https://www.douyin.com:8443/video/1", "https://www.douyin.com.evil.example/video/1", "https://evil.example/?www.douyin.com/video/1", "https://%zz", "\x00", "https://www.douyin.com/video/1?" + strings.Repeat("x", maxText),
		},
		"https://v.kuaishou.com/abc":  {"https://www.kuaishou.com/profile/3xabc", "https://v.m.chenzhongtech.com/fw/user/3x?shareObjectId=3x", "https://live.kuaishou.com/u/3x"},
		"https://xhslink.com/o/abc":   {"https://www.xiaohongshu.com/404?source=/explore/" + note, "https://www.xiaohongshu.com/user/profile/5f00aa00000000000100aa00"},
		"https://b23.tv/abc":          {"https://www.bilibili.com/bangumi/play/ep1", "https://live.bilibili.com/1"},
		"https://t.cn/abc":            {"https://example.org/", "https://v.douyin.com/abc/"},
		"https://h5.pipix.com/s/abc/": {"https://h5.pipix.com/"},
		"https://t.co/abc":            {"https://example.org/", "https://x.com/jack", "https://vm.tiktok.com/abc/", "http://127.0.0.1/jack/status/20"},
		"https://vm.tiktok.com/abc/":  {"https://www.tiktok.com/", "https://www.tiktok.com/@user", "https://www.tiktok.com/login?redirect_url=x"},
		"https://s.lofter.com/-s/abc": {"https://www.lofter.com/", "https://lofter.com.evil.example/post/1d_2e"},
	}
	for short, locations := range from {
		for _, location := range locations {
			if got, err := parsed(t, short).Resolve(location); !errors.Is(err, ErrNotPost) || errors.Is(err, ErrChallenge) || !cmp.Equal(got, Link{}) {
				t.Errorf("%s to %.100q: %v %v", short, location, got, err)
			}
		}
	}
}

func TestResolveToAChallenge(t *testing.T) {
	for short, locations := range map[string][]string{
		"https://v.kuaishou.com/abc": {"https://m.gifshow.com/fw/new-reco?photoId=3xabc", "https://www.kuaishou.com/new-reco", "https://captcha.zt.kuaishou.com/iframe/index.html", "https://security.kuaishou.com/x", "https://passport.kuaishou.com/pc/account/login"},
		"https://xhslink.com/o/abc":  {"https://www.xiaohongshu.com/website-login/captcha?redirectPath=x", "/web-login/captcha.html", "https://www.xiaohongshu.com/Security-check/1"},
		"https://t.cn/abc":           {"https://passport.weibo.com/visitor/visitor?entry=miniblog", "https://visitor.passport.weibo.cn/visitor/visitor"},
	} {
		for _, location := range locations {
			if got, err := parsed(t, short).Resolve(location); !errors.Is(err, ErrChallenge) || errors.Is(err, ErrNotPost) || !cmp.Equal(got, Link{}) {
				t.Errorf("%s to %s: %v %v", short, location, got, err)
			}
		}
	}
}

func TestOnlyShortLinksAreResolved(t *testing.T) {
	for _, l := range []Link{{}, parsed(t, "https://www.douyin.com/video/1")} {
		if got, err := l.Resolve("https://www.douyin.com/video/2"); err == nil || errors.Is(err, ErrNotPost) || errors.Is(err, ErrChallenge) || !cmp.Equal(got, Link{}) {
			t.Errorf("%v %v", got, err)
		}
	}
	if _, err := (Link{Short: true, URL: "https://%zz"}).Resolve("/x"); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
}

func TestHostsThatRedirectBrowsersByScript(t *testing.T) {
	for short, want := range map[string]bool{"https://t.co/abc": true, "https://vm.tiktok.com/abc/": true, "https://vt.tiktok.com/abc/": true, "https://www.tiktok.com/t/abc/": true, "https://v.douyin.com/abc/": false, "https://t.cn/abc": false} {
		if got := parsed(t, short).ScriptedForBrowsers(); got != want {
			t.Errorf("%s: %v", short, got)
		}
	}
}
