package ipcard

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"

	"github.com/mileusna/useragent"
)

// maxAgent is how many bytes of a User-Agent are looked at: the longest of
// honest ones, applications' on Android, have some 450.
const maxAgent = 512

// Describe tells the system and the browser behind a User-Agent header, with
// major versions alone and no more than is known: every Windows since 2015
// calls itself 10, macOS and Android keep a frozen version, and so do iPhones
// since iOS 26 but for Safari's. The header may be anything; what cannot be
// told is 未知系统 and 未知浏览器. Crawlers are 网络爬虫 with the crawler's name.
func Describe(userAgent string) (system, browser string) {
	ua := readable(userAgent)
	if name := crawler(ua); name != "" {
		return "网络爬虫", name
	}
	// The device's build is not the browser, as it would be taken for one.
	parsed := useragent.Parse(build.ReplaceAllString(ua, ""))
	system = cmp.Or(systemOf(ua, &parsed), unknownSystem)
	if shell := shellOf(ua); shell != "" {
		return system, shell
	}
	name := browserOf(ua, &parsed)
	if parsed.Bot && name != "" && parsed.Name != useragent.HeadlessChrome {
		return "网络爬虫", name
	}
	return system, cmp.Or(name, unknownBrowser)
}

var (
	build   = regexp.MustCompile(` Build/[^;)]*`)
	version = regexp.MustCompile(`\bVersion/(\d+)`)
	// named is what may be shown of a name that is in no table.
	named = regexp.MustCompile(`^[A-Za-z][\w .+-]{1,31}$`)
)

// readable cuts a header and drops what is not printed.
func readable(userAgent string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) && r != unicode.ReplacementChar {
			return r
		}
		return -1
	}, truncate(userAgent, maxAgent)))
}

// browserOf is for those that no table here names; empty means unknown.
func browserOf(ua string, parsed *useragent.UserAgent) string {
	switch {
	case !named.MatchString(parsed.Name):
		return ""
	case parsed.Name == useragent.Safari && !version.MatchString(ua):
		return parsed.Name // what is left is the number of the engine
	case parsed.Version == "" && strings.HasPrefix(ua, "Mozilla/"):
		return "" // a word of the system's description
	case parsed.Name == "Android browser":
		return "Android浏览器"
	}
	return versioned(parsed.Name, parsed.Version)
}
