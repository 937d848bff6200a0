package ipcard

import "strings"

// shell is a program around a browser's engine, by the mark that it leaves in
// a User-Agent. A mark that ends in a slash is followed by the version.
type shell struct{ mark, name string }

// shells in the order to look for them: an application names the browser that
// it is made of too, and every browser names Chrome or Safari.
var shells = [...]shell{
	{"wxwork/", "企业微信"}, {"MicroMessenger/", "微信"}, {" QQ/", "QQ"},
	{"AlipayClient/", "支付宝"}, {"DingTalk/", "钉钉"}, {"AliApp(TB/", "淘宝"}, {"AliApp(TM/", "天猫"},
	{"Lark/", "飞书"}, {"Feishu/", "飞书"}, {"__weibo__", "微博"}, {"BiliApp", "哔哩哔哩"}, {"aweme", "抖音"},
	{"NewsArticle/", "今日头条"}, {"xiaohongshu", "小红书"}, {"ZhihuHybrid", "知乎"}, {"jdapp", "京东"},
	{"baiduboxapp/", "百度"}, {"BIDUBrowser/", "百度浏览器"},
	{"MQQBrowser/", "QQ浏览器"}, {"QQBrowser/", "QQ浏览器"}, {"QuarkPC/", "夸克"}, {"Quark/", "夸克"},
	{"UCBrowser/", "UC浏览器"}, {"UBrowser/", "UC浏览器"},
	{"MiuiBrowser/", "小米浏览器"}, {"HuaweiBrowser/", "华为浏览器"}, {"HonorBrowser/", "荣耀浏览器"},
	{"HeyTapBrowser/", "OPPO浏览器"}, {"OppoBrowser/", "OPPO浏览器"}, {"VivoBrowser/", "vivo浏览器"},
	{"MZBrowser/", "魅族浏览器"}, {"SamsungBrowser/", "三星浏览器"}, {"SLBrowser/", "联想浏览器"},
	{"SogouMobileBrowser/", "搜狗浏览器"}, {"MetaSr", "搜狗浏览器"}, {"QHBrowser/", "360浏览器"},
	{"360SE", "360浏览器"}, {"360EE", "360浏览器"}, {"LBBROWSER", "猎豹浏览器"}, {"2345Explorer/", "2345浏览器"},
	{"Trident/7", "IE 11"}, {"MSIE ", "IE"}, {"YaBrowser/", "Yandex"},
}

// shellOf names the shell in a User-Agent with its major version, or nothing.
func shellOf(ua string) string {
	for _, s := range shells {
		_, after, found := strings.Cut(ua, s.mark)
		if !found {
			continue
		}
		if strings.HasSuffix(s.mark, "/") || strings.HasSuffix(s.mark, " ") {
			return versioned(s.name, after)
		}
		return s.name
	}
	return ""
}

// versioned adds the number that a version begins with, unless there is none
// or it is 0, which tells nothing.
func versioned(name, version string) string {
	end := strings.IndexFunc(version+" ", func(r rune) bool { return r < '0' || r > '9' })
	if major := version[:end]; strings.Trim(major, "0") != "" {
		return name + " " + major
	}
	return name
}
