package shortlink

import "testing"

// TestLinksOfTexts: a link is found in the words around it, and stays whole without any.
func TestLinksOfTexts(t *testing.T) {
	for text, want := range map[string]string{
		"http://h.example/x 复制此链接":                    "http://h.example/x",
		"复制 http://h.example/x?a=1&b=2，打开":            "http://h.example/x?a=1&b=2",
		"看看http://h.example/x复制":                      "http://h.example/x",
		"【标题】https://h.example/x】":                    "https://h.example/x",
		"Look: http://h.example/x.":                   "http://h.example/x",
		"http://h.example/x copy it":                  "http://h.example/x",
		"http://h.example/x\ncopy it":                 "http://h.example/x",
		"http://h.example/x，复制":                       "http://h.example/x",
		"“http://h.example/x”":                        "http://h.example/x",
		"<http://h.example/x>":                        "http://h.example/x",
		"http://h.example/x。":                         "http://h.example/x",
		"https://t.cn/A6abc复制":                        "https://t.cn/A6abc",
		"t.cn/A6abc 复制":                               "https://t.cn/A6abc",
		"复制t.cn/A6abc，打开":                             "https://t.cn/A6abc",
		"打开 xhslink.cn/o/abc 看":                       "https://xhslink.cn/o/abc",
		"复制 bit.ly/abc 打开":                            "https://bit.ly/abc",
		"https%3A%2F%2Fh.example%2Fx%3Fa%3D1":         "https://h.example/x?a=1",
		"HTTPS://H.example/x 复制":                      "HTTPS://H.example/x",
		"https://h.example/a https://h.example/b":     "https://h.example/a",
		"https://例子.测试/路径?b=问":                        "https://例子.测试/路径?b=问",
		"https://例子.测试/路径 复制":                         "https://例子.测试/路径",
		"https://h.example/wiki/你好，世界":                "https://h.example/wiki/你好，世界",
		"https://h.example/s?q=go语言":                  "https://h.example/s?q=go语言",
		"https://h.example/wiki/A_(b)":                "https://h.example/wiki/A_(b)",
		"https://h.example/?u=http://a.example/":      "https://h.example/?u=http://a.example/",
		"h.example/?u=http://a.example/":              "h.example/?u=http://a.example/",
		"h.example/x 复制":                              "h.example/x",
		"h.example/x!":                                "h.example/x!",
		"https://h.example/x!":                        "https://h.example/x!",
		"h.example":                                   "h.example",
		"ftp://h.example/x":                           "ftp://h.example/x",
		"javascript://h.example/%0ahttps://a.example": "javascript://h.example/%0ahttps://a.example",
		"https://user:geheim@h.example/":              "https://user:geheim@h.example/",
		"https://user:geheim@h.example/ 复制":           "https://user:geheim@h.example/",
		"复制":                                          "复制",
		"hello there":                                 "hello there",
		"":                                            "",
	} {
		if got := InText(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
