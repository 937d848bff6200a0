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
		if got, err := Parse(in); err != nil || got.String() != want {
			t.Errorf("%s: %v %v, want %s", in, got, err, want)
		}
	}
}

func TestRescue(t *testing.T) {
	const (
		red   = "https://www.xiaohongshu.com/explore/" + note
		weibo = "https://video.weibo.com/show"
		isee  = "https://isee.weishi.qq.com/ws/index.html"
	)
	for _, tt := range []struct{ link, rest, want string }{
		{red + "?app_platform=ios", "type=normal&xsec_token=CBvg%3D&xsec_source=app_share", red + "?app_platform=ios&xsec_token=CBvg%3D"},
		{red, "xsec_token=CBvg=", red + "?xsec_token=CBvg%3D"},
		{red + "?a=1#top", "?xsec_token=CBvg", red + "?a=1&xsec_token=CBvg#top"},
		{red + "?xsec_token=own", "xsec_token=other", red + "?xsec_token=own"},
		{red + "?xsec_token=", "xsec_token=CBvg", red + "?xsec_token="},
		{red, "xsec_token=CBvg%20复制本条信息", red + "?xsec_token=CBvg"},
		{red, "xsec_token=CBvg复制&url=x", red + "?xsec_token=CBvg"},
		{red, "fid=1&id=2&pid=3&modal_id=4", red},
		{red, "", red}, {red, "%zz&;&=", red}, {red, "xsec_token=", red}, {red, "xsec_token=%22", red},
		{"看 " + red + "?a=1", "xsec_token=CBvg", red + "?a=1&xsec_token=CBvg"},
		{"看 " + red + "?a=1", "type=1", "看 " + red + "?a=1"},
		{url.QueryEscape(red + "?a=1"), "xsec_token=CBvg", red + "?a=1&xsec_token=CBvg"},
		{weibo + "?type=mp4", "fid=1034:48&id=1", weibo + "?type=mp4&fid=1034%3A48"},
		{"https://weibo.com/tv/show/1034:48?from=x", "mid=51", "https://weibo.com/tv/show/1034:48?from=x&mid=51"},
		{isee + "?wxplay=1", "id=7abc&spid=9", isee + "?wxplay=1&id=7abc"},
		{"https://www.izuiyou.com/post?a=1", "pid=3", "https://www.izuiyou.com/post?a=1&pid=3"},
		{"https://www.douyin.com/user/self?a=1", "modal_id=74", "https://www.douyin.com/user/self?a=1&modal_id=74"},
		{"https://www.bilibili.com/list/x?a=1", "p=3&bvid=BV1xx411c7mD", "https://www.bilibili.com/list/x?a=1&bvid=BV1xx411c7mD&p=3"},
		{"https://evil.example/", "xsec_token=CBvg", "https://evil.example/"},
		{"no link", "xsec_token=CBvg", "no link"}, {"", "xsec_token=CBvg", ""}, {"https://%zz", "id=1", "https://%zz"},
		{"https://user@www.xiaohongshu.com/explore/" + note, "xsec_token=CBvg", "https://user@www.xiaohongshu.com/explore/" + note + "?xsec_token=CBvg"}, // Parse refuses it
	} {
		if got := Rescue(tt.link, tt.rest); got != tt.want {
			t.Errorf("%s and %s:\n got %s\nwant %s", tt.link, tt.rest, got, tt.want)
		}
	}
}

func TestRescuedLinksAreWhole(t *testing.T) {
	got, err := Parse(Rescue("https://www.xiaohongshu.com/explore/"+note+"?app_platform=ios", "xsec_source=a&xsec_token="+url.QueryEscape(xsec)))
	if err != nil || got.Extra["xsec_token"] != xsec {
		t.Errorf("%v %v", got, err)
	}
}
