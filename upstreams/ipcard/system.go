package ipcard

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/mileusna/useragent"
)

// systemOf is the system's name as it can be told, or empty. Marks come first
// that stand beside the name of another system.
func systemOf(ua string, parsed *useragent.UserAgent) string {
	for _, s := range [...]struct{ mark, name string }{
		{"HarmonyOS", "鸿蒙"}, {"OpenHarmony", "鸿蒙"}, {"ArkWeb/", "鸿蒙"},
		{"Windows Phone", "Windows Phone"}, {"Xbox", "Xbox"}, {"PlayStation", "PlayStation"}, {"Nintendo Switch", "Nintendo Switch"},
		{"Tizen", "Tizen"}, {"Web0S", "webOS"}, {"KAIOS", "KaiOS"}, {"CrOS ", "ChromeOS"},
	} {
		if strings.Contains(ua, s.mark) {
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

// windows names a version of Windows NT. Windows 11 calls itself 10.0 too.
func windows(nt string) string {
	names := map[string]string{
		"10.0": "Windows 10/11", "6.3": "Windows 8.1", "6.2": "Windows 8", "6.1": "Windows 7",
		"6.0": "Windows Vista", "5.2": "Windows XP", "5.1": "Windows XP",
	}
	return cmp.Or(names[nt], "Windows")
}

// apple names the system of an iPhone or iPad. From version 26 the header says
// 18.6 or 18.7 for ever, and only Safari's own version, which is the system's,
// goes on: https://webkit.org/blog/17333/webkit-features-in-safari-26-0/.
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

// family is the kind of system that a header without the usual form mentions.
func family(ua string) string {
	for _, name := range [...]string{"Windows", "Android", "macOS", "iOS", "Linux", "FreeBSD", "OpenBSD", "NetBSD"} {
		if strings.Contains(strings.ToLower(ua), strings.ToLower(name)) {
			return name
		}
	}
	return ""
}
