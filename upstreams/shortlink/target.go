package shortlink

import (
	"net/url"
	"slices"
	"strings"
)

// appSchemes are those that are told, never followed.
var appSchemes = []string{
	"weixin", "taobao", "tbopen", "tmall", "alipays", "openapp.jdmobile", "pinduoduo", "bilibili", "snssdk1128", "kwai", "xhsdiscover", "zhihu", "sinaweibo", "mqqapi",
}

// found is where something leads: to a target, to an app, or to what is
// neither.
type found struct {
	target *url.URL // absolute, http or https; nil for none
	app    string
	via    string
	warned bool
	broken bool // it leads somewhere, but not to anything readable
}

// resolve reads a reference as browsers do: white space around it and line
// breaks within do not count, and what must be escaped is.
func resolve(base *url.URL, raw, via string) *found {
	raw = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(strings.TrimSpace(raw))
	u, err := base.Parse(escaped(raw))
	switch {
	case err != nil, isWeb(u.Scheme) && u.Host == "":
		return &found{via: via, broken: true}
	case isWeb(u.Scheme):
		return &found{target: u, via: via}
	case u.Scheme == "intent":
		return fallback(u, via)
	case slices.Contains(appSchemes, u.Scheme):
		return &found{app: u.String(), via: via}
	}
	return &found{via: via}
}

// fallback is the page that an Android intent names for those without the app
// (https://developer.chrome.com/docs/android/intents).
func fallback(u *url.URL, via string) *found {
	for part := range strings.SplitSeq(u.EscapedFragment(), ";") {
		value, ok := strings.CutPrefix(part, "S.browser_fallback_url=")
		if !ok {
			continue
		}
		if plain, err := url.PathUnescape(value); err == nil {
			value = plain
		}
		if target, err := url.Parse(escaped(value)); err == nil && isWeb(target.Scheme) && target.Host != "" {
			return &found{target: target, via: via}
		}
	}
	return &found{via: via}
}
