package sharelink

import (
	"net/url"
	"testing"
)

func TestParseShareTexts(t *testing.T) {
	const (
		douyin = "https://v.douyin.com/iRNBho6u/"
		red    = "https://xhslink.com/a/4Fg7hJ"
	)
	for in, want := range map[string]string{
		"3.58 复制打开抖音，看看【小明的作品】今天也要加油🎉 # 日常  https://v.douyin.com/iRNBho6u/ 05/20 x@f.oD :2pm cNJ:/": douyin,
		"看这个👉https://v.douyin.com/iRNBho6u/，复制此链接":                                                  douyin,
		"（https://v.douyin.com/iRNBho6u）":              douyin,
		"【http://v.douyin.com/iRNBho6u/】":              douyin,
		"链接：HTTPS://v.douyin.com/iRNBho6u/。":           douyin,
		"See \"https://v.douyin.com/iRNBho6u/\".":      douyin,
		"(https://v.douyin.com/iRNBho6u/)!":            douyin,
		"https://v.douyin.com/iRNBho6u?!":              douyin,
		"<https://v.douyin.com/iRNBho6u/>\r\nand more": douyin,
		"复制v.douyin.com/iRNBho6u/打开抖音":                 douyin,
		"V.Douyin.com/iRNBho6u.":                       douyin,
		"\u200bhttps://v.douyin.com/iRNBho6u/\u200b":   douyin,
		"81 小红薯发布了一篇小红书笔记，快来看吧！ 😆 Ab1 😆 http://xhslink.com/a/4Fg7hJ，复制本条信息，打开【小红书】App查看精彩内容！": red,
		"a.b/c xhslink.com/a/4Fg7hJ":                                            red,
		"https%3A%2F%2Fv.douyin.com%2FiRNBho6u%2F":                              douyin,
		"v.douyin.com%2FiRNBho6u%2F":                                            douyin,
		url.QueryEscape("看看 https://v.douyin.com/iRNBho6u/ 复制"):                 douyin,
		"https%3a%2f%2fwww.bilibili.com%2fvideo%2fBV1xx411c7mD%3Fp%3D3%26t%3D1": "https://www.bilibili.com/video/BV1xx411c7mD?p=3",
		"【标题-哔哩哔哩】 https://b23.tv/aB3dE9f":                                      "https://b23.tv/aB3dE9f",
		"https://v.kuaishou.com/JKl9mN 今天 \"快手\" 该作品在快手被播放过1次，点击链接，打开【快手】直接观看！": "https://v.kuaishou.com/JKl9mN",
		"https://v.douyin.com/iRNBho6u/ https://b23.tv/aB3dE9f":                 douyin,
	} {
		if got, err := Parse(in); err != nil || got.URL != want {
			t.Errorf("%s: %v %v, want %s", in, got, err, want)
		}
	}
}
