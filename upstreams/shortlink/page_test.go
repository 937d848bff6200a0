package shortlink

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestNormalize(t *testing.T) {
	for in, want := range map[string]string{
		"t.cn/A6abc":                      "https://t.cn/A6abc",
		" HTTP://T.CN.:80/A6abc#x ":       "http://t.cn/A6abc",
		"https://t.cn:443":                "https://t.cn/",
		"https://t.cn:/?":                 "https://t.cn/",
		"//t.cn/x":                        "https://t.cn/x",
		"t.cn/?u=http://a.example/?b&a=1": "https://t.cn/?u=http://a.example/?b&a=1",
		"http://t.cn:443/x":               "http://t.cn:443/x",
		"a.example:08080/x":               "https://a.example:8080/x",
		"https://例子.测试/路 径?b=问&a=%e9&p=100%": "https://xn--fsqu00a.xn--0zwm56d/%E8%B7%AF%20%E5%BE%84?b=%E9%97%AE&a=%e9&p=100%25",
		"https://a.example/a%2Fb/../c":       "https://a.example/a%2Fb/../c",
		"http://127.0.0.1/":                  "http://127.0.0.1/",
		"http://0x7f.1/":                     "http://0x7f.1/",
		"http://2130706433/":                 "http://2130706433/",
		"http://[2400:3200:0::1]:80/x":       "http://[2400:3200::1]/x",
		"http://[2400:3200::1]:81/x":         "http://[2400:3200::1]:81/x",
		"localhost":                          "https://localhost/",
		"r3---sn-x.example/a_b":              "https://r3---sn-x.example/a_b",
	} {
		got, err := Normalize(in)
		if err != nil || got != want {
			t.Errorf("%s: %q %v", in, got, err)
		}
	}
}

func TestNormalizeRefuses(t *testing.T) {
	rows := map[bool][]string{ // by whether it is ErrForbidden
		true: {
			"ftp://t.cn/x", "file:///etc/passwd", "javascript://t.cn/%0a", "weixin://dl", "://t.cn",
			"mailto:geheim@example.org", "https://user:geheim@t.cn/", "user@t.cn", "https://@t.cn/",
		},
		false: {
			"", " ", "/", "https://", "https:///x", "javascript:alert(1)", "data:text/html,x", "t.cn:x/", "t.cn:99999/", "a..b/", "-a.example", "a b.example/x", "exam!ple.org",
			"http://[::1", "xn--a.example", "t.cn/\x00", "t.cn/a\nb",
			"https://t.cn/" + strings.Repeat("a", maxURL), "https://t.cn/" + strings.Repeat("路", maxURL/6), "https://" + strings.Repeat("a.", 127) + "example/",
		},
	}
	for forbidden, inputs := range rows {
		for _, in := range inputs {
			got, err := Normalize(in)
			if err == nil || errors.Is(err, ErrForbidden) != forbidden {
				t.Errorf("%.60q: %q %v", in, got, err)
				continue
			}
			if text := err.Error(); !strings.Contains(text, "https://t.cn/A6abc") || strings.Contains(text, "geheim") {
				t.Errorf("%.60q: unhelpful: %v", in, err)
			}
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"https://a.example/":                                      "https://a.example/",
		"https://a.example/?utm_source=x&UTM_Medium=y":            "https://a.example/",
		"https://a.example/?b=1&spm=x&a=%2f&vd_source=1&&c#utm_x": "https://a.example/?b=1&a=%2f&&c#utm_x",
		"https://a.example/?gclid#top":                            "https://a.example/#top",
		"https://a.example/?u%74m_x=1&spmx=2":                     "https://a.example/?spmx=2",
		"https://a.example/?":                                     "https://a.example/?",
		"https://a.example/#?spm=1":                               "https://a.example/#?spm=1",
		"https://a.example/?q=a?spm=1&utm=2&%zz=3&fbclid=4":       "https://a.example/?q=a?spm=1&utm=2&%zz=3",
	} {
		if got := clean(in); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
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

func TestRefresh(t *testing.T) {
	for in, want := range map[string]string{
		"0;URL=https://a.example/":    "https://a.example/",
		" 5 ; url = 'https://a/?x' y": "https://a/?x",
		`0;url="https://a/;b"`:        "https://a/;b",
		`0;url="https://a/`:           "https://a/",
		"0, x":                        "x",
		"0 https://a/":                "https://a/",
		"0.5;url=x":                   "x",
		";url=x":                      "x",
		"0\n;\nURL=\nx":               "x",
		"6;url=x":                     "",
		"99999999999999999999;url=x":  "",
		"0":                           "",
		"0;":                          "",
		"0;url=":                      "",
		"0;url=''":                    "",
		"-1;url=x":                    "",
		"url=x":                       "",
		"":                            "",
	} {
		if got, ok := refresh(in); got != want || ok != (want != "") {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestScanRefreshes(t *testing.T) {
	for in, want := range map[string][]string{
		`<META HTTP-EQUIV=Refresh CONTENT=0;URL=/x?a&amp;b>`:                                    {"/x?a&b"},
		`<meta content="0; url=x" http-equiv='refresh' />`:                                      {"x"},
		`<meta http-equiv=refresh content=9;url=late><meta http-equiv=refresh content=1;url=y>`: {"y"},
		`<!-- <meta http-equiv=refresh content=0;url=x> -->`:                                    nil,
		`<script>"<meta http-equiv=refresh content=0;url=x>"</script>`:                          nil,
		`<meta name=refresh content=0;url=x>`:                                                   nil,
		`<meta http-equiv=refresh content=0;url=x http-equiv=y`:                                 nil,
	} {
		if got := scan([]byte(in), false).refresh; !slices.Equal(got, want) {
			t.Errorf("%s is %q, want %q", in, got, want)
		}
	}
}

func TestAssignments(t *testing.T) {
	for in, want := range map[string][]string{
		`location.replace("https:\/\/a.example\/")`:          {"https://a.example/"},
		`window.location.href='/x?a=1\u0026b\x3d2'`:          {"/x?a=1&b=2"},
		`self . location = "x";`:                             {"x"},
		`window.top.location.assign( "x" )`:                  {"x"},
		`document.location="a\"b"`:                           {`a"b`},
		`location.href = "x" + id`:                           nil,
		`location.href = "x".concat(y)`:                      nil,
		`location.href = x`:                                  nil,
		`location.href == "x"`:                               nil,
		`if (location.href != "x") y()`:                      nil,
		`user.location = "Paris"`:                            nil,
		`geolocation = "x"`:                                  nil,
		`location.href = "#top"`:                             nil,
		`location.href = ""`:                                 nil,
		"location.href = \"a\nb\"":                           nil,
		`location.replace("x" ? a : b)`:                      nil,
		`setTimeout("x",1);location='y';window.location="z"`: {"y", "z"},
		`location.href="\ud83d\ude00"`:                       {"\ufffd\ufffd"},
	} {
		if got := assignments([]string{in}); !slices.Equal(got, want) {
			t.Errorf("%s is %q, want %q", in, got, want)
		}
	}
}

func TestFirstScriptTargetThatIsAPage(t *testing.T) {
	u := &url.URL{Scheme: "https", Host: "v.kuaishou.com", Path: "/x"}
	f := search(u, []byte(`<script>location.href="kwai://x"; location.href="javascript:x"; location.href="https://[";</script><script>location.replace("/y")</script>`))
	if f == nil || f.target.String() != "https://v.kuaishou.com/y" || f.via != "script" {
		t.Errorf("%+v", f)
	}
}

func FuzzNormalize(f *testing.F) {
	for _, s := range []string{"t.cn/x", "HTTP://例子.测试:80/路?问#x", "https://[2400::1]:443/%zz", "a:b@c", "//x/?%", "http://0x7f.1:080/", "https://a.example/%2F%e9 %"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		link, err := Normalize(raw)
		if err != nil {
			return
		}
		if again, err := Normalize(link); err != nil || again != link {
			t.Errorf("%q is %q, again %q %v", raw, link, again, err)
		}
		u, err := url.Parse(link)
		if err != nil || !isWeb(u.Scheme) || u.User != nil || u.Host == "" || u.Host != strings.ToLower(u.Host) || u.Fragment != "" || len(link) > maxURL {
			t.Errorf("%q became %q %v", raw, link, err)
		}
		if strings.ContainsFunc(link, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Errorf("%q became %q", raw, link)
		}
		if c := clean(link); len(c) > len(link) || clean(c) != c {
			t.Errorf("%q cleaned is %q", link, c)
		}
	})
}

// sound checks that targets of any pages and headers are http or https, absolute,
// and can be sent.
func sound(t *testing.T, f *found) {
	t.Helper()
	if f == nil || f.target == nil {
		return
	}
	sent := f.target.String()
	if !isWeb(f.target.Scheme) || f.target.Host == "" || strings.ContainsFunc(f.target.RequestURI(), func(r rune) bool { return r <= ' ' || r > '~' }) {
		t.Errorf("target %q", sent)
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("t.cn", []byte(`<div class=open-url><a href=//x/></div><div class=desc>http://x</div>`))
	f.Add("t.co", []byte(`<noscript><meta http-equiv=refresh content="0;url='https://x/\u00e9'"></noscript>`))
	f.Add("m.tb.cn", []byte(`<script>var url = "https:\/\/x";location.replace('\x2f')</script>`))
	f.Add("lnkd.in", []byte(`<a href="http://x y/%">`))
	f.Fuzz(func(t *testing.T, host string, body []byte) {
		base := &url.URL{Scheme: "https", Host: host, Path: "/"}
		if _, err := url.Parse(base.String()); err != nil || host == "" {
			return
		}
		sound(t, search(base, body))
	})
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"/x", "//a/b", "https://例子/路 ?x y", "intent://x#Intent;S.browser_fallback_url=https%3A%2F%2Fa;end", "weixin://x", "javascript:x", "http://[::", "?%zz#%"} {
		f.Add(s)
	}
	base := &url.URL{Scheme: "https", Host: "a.example", Path: "/x"}
	f.Fuzz(func(t *testing.T, ref string) {
		got := parseTarget(base, ref, "http")
		sound(t, got)
		if got.target != nil && got.app != "" || got.via != "http" {
			t.Errorf("%+v", got)
		}
		if got.target != nil {
			sound(t, unwrap(got.target))
		}
	})
}
