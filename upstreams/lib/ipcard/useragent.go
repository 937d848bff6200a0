package ipcard

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/mileusna/useragent"
)

// maxAgent is how many bytes of a User-Agent are read: the longest real ones, of
// applications on Android, have some 450.
const maxAgent = 512

// Describe names the system and the browser of a User-Agent header, with major
// versions only, where they are known: every Windows since 2015 sends 10, macOS
// and Android send a frozen version, and so do iPhones since iOS 26, except in
// Safari's version. The header may be anything; what it does not tell is empty.
// Crawlers are 网络爬虫 with the crawler's name.
func Describe(userAgent string) (system, browser string) {
	ua := readable(userAgent)
	if name := crawler(ua); name != "" {
		return "网络爬虫", name
	}
	// The device's build would be parsed as a browser.
	parsed := useragent.Parse(build.ReplaceAllString(ua, ""))
	system = systemOf(ua, &parsed)
	if brand := brandOf(ua); brand != "" {
		return system, brand
	}
	name := browserOf(ua, &parsed)
	if parsed.Bot && name != "" && parsed.Name != useragent.HeadlessChrome {
		return "网络爬虫", name
	}
	return system, name
}

var (
	build   = regexp.MustCompile(` Build/[^;)]*`)
	version = regexp.MustCompile(`\bVersion/(\d+)`)
	// named is the form of names that may be shown though they are in no table.
	named = regexp.MustCompile(`^[A-Za-z][\w .+-]{1,31}$`)
)

// readable cuts a header and drops characters that are not printable.
func readable(userAgent string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) && r != unicode.ReplacementChar {
			return r
		}
		return -1
	}, truncate(userAgent, maxAgent)))
}

// browserOf names browsers that are in no table here; empty means unknown.
func browserOf(ua string, parsed *useragent.UserAgent) string {
	switch {
	case !named.MatchString(parsed.Name):
		return ""
	case parsed.Name == useragent.Safari && !version.MatchString(ua):
		return parsed.Name // its version would be that of the engine
	case parsed.Version == "" && strings.HasPrefix(ua, "Mozilla/"):
		return "" // this is a word of the system's description
	case parsed.Name == "Android browser":
		return "Android浏览器"
	}
	return versioned(parsed.Name, parsed.Version)
}

// systemOf is the system's name, or empty. Systems whose headers name another
// system as well come first.
func systemOf(ua string, parsed *useragent.UserAgent) string {
	for _, s := range [...]struct{ token, name string }{
		{"HarmonyOS", "鸿蒙"}, {"OpenHarmony", "鸿蒙"}, {"ArkWeb/", "鸿蒙"},
		{"Windows Phone", "Windows Phone"}, {"Xbox", "Xbox"}, {"PlayStation", "PlayStation"}, {"Nintendo Switch", "Nintendo Switch"},
		{"Tizen", "Tizen"}, {"Web0S", "webOS"}, {"KAIOS", "KaiOS"}, {"CrOS ", "ChromeOS"},
	} {
		if strings.Contains(ua, s.token) {
			return s.name
		}
	}
	switch parsed.OS {
	case useragent.Windows:
		return windows(parsed.OSVersion)
	case useragent.IOS:
		return apple(ua, parsed)
	case "":
		return family(ua)
	}
	return parsed.OS
}

// windows names a version of Windows NT. Windows 11 sends 10.0 too.
func windows(nt string) string {
	names := map[string]string{
		"10.0": "Windows 10/11", "6.3": "Windows 8.1", "6.2": "Windows 8", "6.1": "Windows 7",
		"6.0": "Windows Vista", "5.2": "Windows XP", "5.1": "Windows XP",
	}
	return cmp.Or(names[nt], "Windows")
}

// apple names the system of an iPhone or iPad. From version 26 on the header
// always has 18.6 or 18.7, and only Safari's own version is that of the system: https://webkit.org/blog/17333/webkit-features-in-safari-26-0/.
func apple(ua string, parsed *useragent.UserAgent) string {
	name, major, more := "iOS", parsed.OSVersionNo.Major, ""
	if safari := version.FindStringSubmatch(ua); safari != nil {
		n, err := strconv.Atoi(safari[1])
		if err == nil && n < 1000 {
			major = max(major, n)
		}
	} else if major == 18 && parsed.OSVersionNo.Minor >= 6 {
		more = "+"
	}
	if parsed.Tablet && major >= 13 {
		name = "iPadOS"
	}
	if major <= 0 || major >= 1000 {
		return name
	}
	return name + " " + strconv.Itoa(major) + more
}

// family is the kind of system that a header of an unusual form mentions.
func family(ua string) string {
	for _, name := range [...]string{"Windows", "Android", "macOS", "iOS", "Linux", "FreeBSD", "OpenBSD", "NetBSD"} {
		if strings.Contains(strings.ToLower(ua), strings.ToLower(name)) {
			return name
		}
	}
	return ""
}

// brand is an application or browser that is built on another browser's engine.
// Its token in the User-Agent, if it ends in a slash, is followed by the version.
type brand struct{ token, name string }

// brands in the order of the search: applications also send the token of the
// browser that they are built on, and every browser sends Chrome's or Safari's.
var brands = [...]brand{
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

// brandOf names the brand in a User-Agent with its major version, or is empty.
func brandOf(ua string) string {
	for _, s := range brands {
		_, after, found := strings.Cut(ua, s.token)
		if !found {
			continue
		}
		if strings.HasSuffix(s.token, "/") || strings.HasSuffix(s.token, " ") {
			return versioned(s.name, after)
		}
		return s.name
	}
	return ""
}

// versioned appends the major version to a name, unless there is none or it is 0,
// which means unknown.
func versioned(name, version string) string {
	end := strings.IndexFunc(version+" ", func(r rune) bool { return r < '0' || r > '9' })
	if major := version[:end]; strings.Trim(major, "0") != "" {
		return name + " " + major
	}
	return name
}

// robot matches names that end like those of crawlers.
var robot = regexp.MustCompile(`(?i)[a-z0-9_.-]*(?:bot|spider|crawler)(?:-[\w-]+)?\b`)

// crawler is the name of the crawler in a User-Agent, or empty.
func crawler(ua string) string {
	for _, name := range [...]string{
		"Sogou web spider", "Sogou inst spider", "Sogou Pic Spider", "Sogou News Spider", "Yahoo! Slurp",
		"facebookexternalhit", "Mediapartners-Google", "Google-InspectionTool", "GoogleOther", "Feedfetcher-Google",
		"Chrome-Lighthouse", "ia_archiver", "ChatGPT-User", "Perplexity-User", "Claude-User",
	} {
		if strings.Contains(ua, name) {
			return name
		}
	}
	// Nearly no visitor is a crawler, and the expression is slow.
	lower := strings.ToLower(ua)
	if !strings.Contains(lower, "bot") && !strings.Contains(lower, "spider") && !strings.Contains(lower, "crawler") {
		return ""
	}
	for _, name := range robot.FindAllString(ua, 4) {
		if !strings.EqualFold(name, "cubot") { // a brand of phones
			return truncate(name, 32)
		}
	}
	return ""
}

var (
	notPhone = regexp.MustCompile(`iPad|Tablet|PlayBook|Kindle|Silk/|\(PC; OpenHarmony|Windows NT|Macintosh|CrOS |\bTV\b|SMART-TV|SmartTV|Xbox|PlayStation|Nintendo`)
	phone    = regexp.MustCompile(`\bMobile\b|IEMobile|iPhone|iPod|Windows Phone|BlackBerry|BB10|Opera Mini|Opera Mobi|Symbian|\bMIDP|KAIOS|webOS/`)
	android  = regexp.MustCompile(`Android|HarmonyOS|OpenHarmony`)
	engine   = regexp.MustCompile(`(?:Chrome|Version)/[\d.]+ Safari/`)
)

// Mobile reports whether a User-Agent is a phone's. Tablets, desktops, consoles
// and television sets are not phones: browsers on Android send Mobile only on
// phones, while HarmonyOS sends it on tablets and desktops too.
func Mobile(userAgent string) bool {
	ua := readable(userAgent)
	switch {
	case notPhone.MatchString(ua):
		return false
	case phone.MatchString(ua):
		return true
	}
	return android.MatchString(ua) && !engine.MatchString(ua)
}
