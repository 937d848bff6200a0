package shortlink

import (
	"net/url"
	"testing"
)

func TestKnownShorteners(t *testing.T) {
	for in, want := range map[string]bool{
		"https://e.tb.cn/h.hAbCdEf?tk=AbCd":          true, // Taobao, since 2024
		"https://m.tb.cn/h.fAbCdEf":                  true,
		"https://s.tb.cn/c.0abc":                     true,
		"https://u.jd.com/AbCdEfG":                   true,
		"https://3.cn/1AbCdEf":                       true,
		"https://vm.tiktok.com/ZMabcdefg/":           true,
		"https://vt.tiktok.com/ZSabcdefg/":           true,
		"https://b23.tv/AbCdEfG":                     true,
		"https://xhslink.cn/o/AbCdEf":                true,
		"https://jx.douyin.com/AbCdEf/":              true,
		"https://www.kuaishou.com/f/X-abc":           true,
		"https://h5.pipix.com/s/AbCdEf/":             true,
		"https://video.weishi.qq.com/AbCdEf":         true,
		"https://v.ixigua.com/AbCdEf/":               true,
		"https://m.toutiao.com/is/AbCdEf/":           true,
		"https://www.tiktok.com/t/ZTabc/":            true,
		"https://s.lofter.com/-s/abc":                true,
		"https://mapp.api.weibo.cn/fx/abc.html":      true,
		"https://t.cn.:443/A6abc":                    true,
		"https://b23.tv/BV1xx411c7mD":                true,
		"https://www.kuaishou.com/short-video/3xabc": false,
		"https://item.taobao.com/item.htm?id=1":      false,
		"https://item.jd.com/100000000001.html":      false,
		"https://www.tiktok.com/@a/video/7":          false,
		"https://13.cn/":                             false,
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := isShort(u); got != want {
			t.Errorf("%s: short is %v, want %v", in, got, want)
		}
	}
}

func TestUnwrap(t *testing.T) {
	for in, want := range map[string]string{
		"https://link.csdn.net/?target=https%3A%2F%2Fa.example":                    "https://a.example",
		"https://link.juejin.cn?target=https://a.example/":                         "https://a.example/",
		"https://www.oschina.net/action/GoToLink?url=http://a.example/":            "http://a.example/",
		"https://afdian.net/link?target=https://a.example/":                        "https://a.example/",
		"https://docs.qq.com/scenario/link.html?url=https://a.example/":            "https://a.example/",
		"https://mail.qq.com/cgi-bin/readtemplate?t=safety&gourl=a.example/x":      "http://a.example/x",
		"http://jump2.bdimg.com/safecheck/index?url=https://a.example/":            "https://a.example/",
		"https://weibo.cn/sinaurl?toasturl=https://b.example&u=https://a.example/": "https://a.example/",
		"https://www.douban.com/link2/?url=https://a.example/":                     "https://a.example/",
		"https://c.pc.qq.com/ios.html?url=https://a.example/":                      "https://a.example/",
		"https://www.youtube.com/redirect?event=x&q=https://a.example/":            "https://a.example/",
		"https://l.facebook.com/l.php?u=https://a.example/&h=x":                    "https://a.example/",
		"https://www.google.com/url?sa=t&url=https://a.example/":                   "https://a.example/",
		"https://steamcommunity.com/linkfilter/?u=https://a.example/":              "https://a.example/",
		"https://vk.com/away.php?to=https://a.example/":                            "https://a.example/",
		"https://WWW.VK.com/away.php?to=//a.example/":                              "http://a.example/",
		"https://vk.com/?to=https://a.example/":                                    "",
		"https://evil-vk.com/away.php?to=https://a.example/":                       "",
		"https://www.google.com/url?q=/search":                                     "",
		"https://www.google.com/url?q=javascript:alert(1)":                         "",
		"https://www.google.com/url?q=ftp://a.example/":                            "",
		"https://www.google.com/url?q=word&url=https://a.example/":                 "https://a.example/",
		"https://www.google.com/url":                                               "",
		"https://vk.com/away.php?to=https://u:p@a.example/":                        "",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if f := unwrap(u); f != nil {
			got = f.target.String()
		}
		if got != want {
			t.Errorf("%s contains %q, want %q", in, got, want)
		}
	}
}
