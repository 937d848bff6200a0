package shortlink

import (
	"errors"
	"net/url"
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
		"https://localhost":                  "https://localhost/",
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
			"", " ", "/", "hello", "localhost", "2130706433", "https://", "https:///x", "javascript:alert(1)", "data:text/html,x", "t.cn:x/", "t.cn:99999/", "a..b/", "-a.example", "a b.example/x", "exam!ple.org",
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
