package ipcard

import "regexp"

var (
	notPhone = regexp.MustCompile(`iPad|Tablet|PlayBook|Kindle|Silk/|\(PC; OpenHarmony|Windows NT|Macintosh|CrOS |\bTV\b|SMART-TV|SmartTV|Xbox|PlayStation|Nintendo`)
	phone    = regexp.MustCompile(`\bMobile\b|IEMobile|iPhone|iPod|Windows Phone|BlackBerry|BB10|Opera Mini|Opera Mobi|Symbian|\bMIDP|KAIOS|webOS/`)
	android  = regexp.MustCompile(`Android|HarmonyOS|OpenHarmony`)
	engine   = regexp.MustCompile(`(?:Chrome|Version)/[\d.]+ Safari/`)
)

// Mobile tells whether a User-Agent is a phone's. Tablets, desktops, consoles
// and television sets are not phones: a browser on Android says Mobile only on
// a phone, while HarmonyOS says it on tablets and desktops too.
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
