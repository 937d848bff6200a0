package ipcard

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// agents are real headers, except for the versions of applications.
var agents = []struct {
	ua, system, browser string
	mobile              bool
}{
	{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36", "Windows 10/11", "Chrome 126", false},
	{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0", "Windows 10/11", "Edge 126", false},
	{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36 OPR/110.0.0.0", "Windows 10/11", "Opera 110", false},
	{"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0", "Windows 10/11", "Firefox 127", false},
	{"Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko", "Windows 7", "IE 11", false},
	{"Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 5.1; Trident/4.0)", "Windows XP", "IE 8", false},
	{"Mozilla/5.0 (Windows NT 6.3; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/58.0.3029.110 Safari/537.36 SE 2.X MetaSr 1.0", "Windows 8.1", "搜狗浏览器", false},
	{"Mozilla/5.0 (Windows NT 10.0; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/94.0.4606.71 Safari/537.36 Core/1.94.197.400 QQBrowser/11.7.5287.400", "Windows 10/11", "QQ浏览器 11", false},
	{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/107.0.0.0 Safari/537.36 MicroMessenger/7.0.20.1781(0x6700143B) NetType/WIFI MiniProgramEnv/Windows WindowsWechat/WMPF XWEB/8555", "Windows 10/11", "微信 7", false},
	{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15", "macOS", "Safari 17", false},
	{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Vivaldi/6.8", "macOS", "Vivaldi 6", false},
	{"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Linux", "Firefox 128", false},
	{"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36", "ChromeOS", "Chrome 126", false},
	{"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0.0.0 Safari/537.36", "Linux", "Headless Chrome 126", false},

	{"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36", "Android", "Chrome 126", true},
	{"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36", "Android", "Chrome 126", false},
	{"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36 EdgA/126.0.0.0", "Android", "Edge 126", true},
	{"Mozilla/5.0 (Android 14; Mobile; rv:127.0) Gecko/127.0 Firefox/127.0", "Android", "Firefox 127", true},
	{"Mozilla/5.0 (Android 14; Tablet; rv:127.0) Gecko/127.0 Firefox/127.0", "Android", "Firefox 127", false},
	{"Mozilla/5.0 (Linux; U; Android 9; zh-cn; MI 8 Build/PKQ1.180729.001) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/71.0.3578.141 Mobile Safari/537.36 XiaoMi/MiuiBrowser/11.10.8", "Android", "小米浏览器 11", true},
	{"Mozilla/5.0 (Linux; U; Android 9; zh-cn; MI 8 Build/PKQ1.180729.001) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/71.0.3578.141 Mobile Safari/537.36", "Android", "Chrome 71", true},
	{"Mozilla/5.0 (Linux; Android 13; CUBOT X70 Build/TP1A.220624.014) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0 Mobile Safari/537.36", "Android", "Chrome 125", true},
	{"Mozilla/5.0 (Linux; Android 13; 22081212C Build/TKQ1.220829.002; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/116.0.0.0 Mobile Safari/537.36 XWEB/1160065 MMWEBSDK/20231202 MMWEBID/2247 MicroMessenger/8.0.47.2560(0x28002F35) WeChat/arm64 Weixin NetType/WIFI Language/zh_CN ABI/arm64", "Android", "微信 8", true},
	{"Mozilla/5.0 (Linux; Android 12; PCAM00 Build/SKQ1.210216.001; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/109.0.5414.86 MQQBrowser/6.2 TBS/046715 Mobile Safari/537.36 V1_AND_SQ_9.0.35 QQ/9.0.35.16600 NetType/WIFI", "Android", "QQ 9", true},
	{"Mozilla/5.0 (Linux; U; Android 12; zh-cn; V2148A Build/SP1A.210812.003) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/89.0.4389.72 MQQBrowser/14.2 Mobile Safari/537.36", "Android", "QQ浏览器 14", true},
	{"Mozilla/5.0 (Linux; U; Android 13; zh-CN; PHM110 Build/TP1A.220905.001) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/100.0.4896.58 UCBrowser/16.5.8.1295 Mobile Safari/537.36", "Android", "UC浏览器 16", true},
	{"Mozilla/5.0 (Linux; U; Android 13; zh-CN; 2201122C Build/TKQ1.220807.001) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/100.0.4896.58 Quark/6.9.7.512 Mobile Safari/537.36", "Android", "夸克 6", true},
	{"Mozilla/5.0 (Linux; Android 12; M2102K1C Build/SKQ1.211006.001; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/97.0.4692.98 Mobile Safari/537.36 T7/13.35 BDOS/1.0 (HarmonyOS 2.2.0) SP-engine/2.73.0 baiduboxapp/13.35.0.10 (Baidu; P1 12)", "鸿蒙", "百度 13", true},
	{"Mozilla/5.0 (Linux; U; Android 12; zh-CN; LIO-AN00 Build/HUAWEILIO-AN00) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/69.0.3497.100 UWS/3.22.2.67 Mobile Safari/537.36 UCBS/3.22 AlipayDefined(nt:WIFI) AliApp(AP/10.5.0.8000) AlipayClient/10.5.0.8000 Language/zh-Hans", "Android", "支付宝 10", true},
	{"Mozilla/5.0 (Linux; Android 13; SM-S9180 Build/TP1A.220624.014) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36", "Android", "三星浏览器 25", true},
	{"Mozilla/5.0 (Linux; Android 10; HarmonyOS; NOH-AN00; HMSCore 6.13.0.302) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/99.0.4844.88 HuaweiBrowser/15.0.4.312 Mobile Safari/537.36", "鸿蒙", "华为浏览器 15", true},
	{"Mozilla/5.0 (Phone; OpenHarmony 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/114.0.0.0 Safari/537.36 ArkWeb/4.1.6.1 Mobile HuaweiBrowser/5.1.3.300", "鸿蒙", "华为浏览器 5", true},
	{"Mozilla/5.0 (Tablet; OpenHarmony 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/114.0.0.0 Safari/537.36 ArkWeb/4.1.6.1 Mobile", "鸿蒙", "ArkWeb 4", false},
	{"Mozilla/5.0 (PC; OpenHarmony 5.0; HarmonyOS 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/132.0.0.0 Safari/537.36 ArkWeb/6.0.0.1 Mobile", "鸿蒙", "ArkWeb 6", false},
	{"Mozilla/5.0 (Windows Phone 10.0; Android 6.0.1; Microsoft; Lumia 950) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/52.0.2743.116 Mobile Safari/537.36 Edge/15.15254", "Windows Phone", "Edge 15", true},

	{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1", "iOS 17", "Safari 17", true},
	{"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1", "iOS 26", "Safari 26", true},
	{"Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0.7339.101 Mobile/15E148 Safari/604.1", "iOS 18+", "Chrome 140", true},
	{"Mozilla/5.0 (iPhone; CPU iPhone OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/20G75 MicroMessenger/8.0.40(0x18002831) NetType/4G Language/zh_CN", "iOS 16", "微信 8", true},
	{"Mozilla/5.0 (iPhone; CPU iPhone OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148", "iOS 16", "", true},
	{"Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1", "iPadOS 17", "Safari 17", false},

	{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "网络爬虫", "Googlebot", false},
	{"Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.6478.126 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "网络爬虫", "Googlebot", true},
	{"Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)", "网络爬虫", "Baiduspider", false},
	{"Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm#07)", "网络爬虫", "Sogou web spider", false},
	{"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)", "网络爬虫", "facebookexternalhit", false},
	{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)", "网络爬虫", "GPTBot", false},

	{"curl/8.5.0", "", "curl 8", false},
	{"Wget/1.21.3 (linux-gnu)", "Linux", "Wget 1", false},
	{"python-requests/2.31.0", "", "python-requests 2", false},
	{"Go-http-client/2.0", "", "Go-http-client 2", false},
	{"okhttp/4.12.0", "", "okhttp 4", false},
	{"Dalvik/2.1.0 (Linux; U; Android 13; M2102J2SC Build/TKQ1.220829.002)", "Android", "Dalvik 2", true},

	{"", "", "", false},
	{"Mozilla/5.0", "", "", false},
	{"\x00\x1b[31m\xff\u202e", "", "", false},
	{"<script>alert(1)</script>", "", "", false},
}

func TestDescribe(t *testing.T) {
	for _, a := range agents {
		if system, browser := Describe(a.ua); system != a.system || browser != a.browser {
			t.Errorf("%s:\n got %s, %s\nwant %s, %s", a.ua, system, browser, a.system, a.browser)
		}
	}
}

func TestMobile(t *testing.T) {
	for _, a := range agents {
		if got := Mobile(a.ua); got != a.mobile {
			t.Errorf("%s: a phone: %v", a.ua, got)
		}
	}
}

func TestDescribeReadsTheFirst512BytesOnly(t *testing.T) {
	if _, browser := Describe(strings.Repeat(" ", 500) + "curl/8.5.0"); browser != "curl 8" {
		t.Errorf("within 512 bytes: %s", browser)
	}
	if _, browser := Describe(strings.Repeat(" ", 512) + "curl/8.5.0"); browser != "" {
		t.Errorf("beyond 512 bytes: %s", browser)
	}
}

// flawed says why a text may not be shown; "" is what is unknown.
func flawed(s string) string {
	switch {
	case !utf8.ValidString(s):
		return "not UTF-8"
	case utf8.RuneCountInString(s) > 48:
		return "long"
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }):
		return "unprintable"
	}
	return ""
}

func FuzzDescribe(f *testing.F) {
	for _, a := range agents {
		f.Add(a.ua)
	}
	f.Fuzz(func(t *testing.T, ua string) {
		system, browser := Describe(ua)
		if why := flawed(system); why != "" {
			t.Errorf("system %q of %q is %s", system, ua, why)
		}
		if why := flawed(browser); why != "" {
			t.Errorf("browser %q of %q is %s", browser, ua, why)
		}
		Mobile(ua)
	})
}

func BenchmarkDescribe(b *testing.B) {
	for b.Loop() {
		Describe(agents[22].ua)
	}
}
