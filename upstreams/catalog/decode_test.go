package catalog

import (
	"net/url"
	"testing"
)

// TestWhiteSpaceAroundValues: it is dropped from each value, and a value of nothing else is
// absent.
func TestWhiteSpaceAroundValues(t *testing.T) {
	for _, e := range mustLoad(t, nil).Endpoints {
		for i, p := range e.Params {
			if p.derive != nil {
				continue
			}
			same := func(query, as string) {
				got, wrong := e.Parse(query, Caller{Addr: caller})
				want, bad := e.Parse(as, Caller{Addr: caller})
				switch {
				case (wrong == nil) != (bad == nil), wrong != nil && wrong.Error() != bad.Error(),
					got.values[i] != want.values[i] && want.from == nil,
					got.Form != want.Form, got.Callback != want.Callback, got.Tail != want.Tail:
					t.Errorf("%s?%s: %v %v, want %v %v", e.Name, query, got.values[i], wrong, want.values[i], bad)
				}
			}
			example := url.QueryEscape(p.Example)
			for _, around := range [][2]string{{"", "%0A"}, {"", "%20"}, {"+", "+"}, {"%09", "%0D%0A"}, {"%C2%A0", "%E3%80%80"}, {"%EF%BB%BF", "%E2%80%8B"}} {
				same(p.Name+"="+around[0]+example+around[1], p.Name+"="+example)
			}
			same(p.Name+"=%20%0A", "")
		}
	}
}

// TestLinksInTexts: each parameter that expects a link takes it from a share text.
func TestLinksInTexts(t *testing.T) {
	c := mustLoad(t, nil)
	for _, r := range []struct{ endpoint, query, want string }{
		{"dwzrec", "url=http://h.example/x%20%E5%A4%8D%E5%88%B6%E6%AD%A4%E9%93%BE%E6%8E%A5", "http://h.example/x"},
		{"dwzrec", "url=http://h.example/x+%E5%A4%8D%E5%88%B6&type=text", "http://h.example/x"},
		{"dwzrec", "url=http://h.example/x 复制此链接", "http://h.example/x"},
		{"dwzrec", "url=看看+https://t.cn/A6abc?a=1&b=2+复制&type=text", "https://t.cn/A6abc?a=1&b=2"},
		{"dwzrec", "url=" + url.QueryEscape("7.43 复制打开抖音 https://v.douyin.com/x/ 看看"), "https://v.douyin.com/x/"},
		{"dwzrec", "url=http://h.example/s?q=a+b", "http://h.example/s?q=a+b"},
		{"dwzrec", "url=http://h.example/a+b", "http://h.example/a+b"},
		{"dwzrec", "url=http%3A%2F%2Fh.example%2Fx+copy", "http://h.example/x"},
		{"favicon", "url=" + url.QueryEscape("看看 https://h.example/x，复制"), "h.example"},
		{"favicon", "url=h.example%20复制", "h.example"},
		{"favicon", "url=http://例子.测试/x%20y", "xn--fsqu00a.xn--0zwm56d"},
		{"vidparse", "url=复制 https://b23.tv/aB3dE9f 打开%0A", "https://b23.tv/aB3dE9f"},
	} {
		e, _ := c.Get(r.endpoint)
		in, bad := e.Parse(r.query, Caller{Addr: caller})
		if got := in.values[e.param("url")]; bad != nil || got != r.want {
			t.Errorf("%s?%s: %v %v, want %s", r.endpoint, r.query, got, bad, r.want)
		}
	}
}
