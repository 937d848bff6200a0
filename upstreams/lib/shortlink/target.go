package shortlink

import (
	"net/url"
	"slices"
	"strings"
)

// appSchemes are those of app URLs, which are reported, never opened.
var appSchemes = []string{
	"weixin", "taobao", "tbopen", "tmall", "alipays", "openapp.jdmobile", "pinduoduo", "bilibili", "snssdk1128", "kwai", "xhsdiscover", "zhihu", "sinaweibo", "mqqapi",
}

// found is a redirect: to a web page, to an app, or to neither.
type found struct {
	target  *url.URL // absolute, http or https; nil for none
	app     string
	via     string
	warned  bool
	invalid bool // it has a target, which is not a valid URL
}

// parseTarget parses a reference as browsers do: white space around it and line
// breaks in it are ignored, and invalid characters are escaped.
func parseTarget(base *url.URL, raw, via string) *found {
	raw = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(strings.TrimSpace(raw))
	u, err := base.Parse(escaped(raw))
	switch {
	case err != nil, isWeb(u.Scheme) && u.Host == "":
		return &found{via: via, invalid: true}
	case isWeb(u.Scheme):
		return &found{target: u, via: via}
	case u.Scheme == "intent":
		return fallback(u, via)
	case slices.Contains(appSchemes, u.Scheme):
		return &found{app: u.String(), via: via}
	}
	return &found{via: via}
}

// fallback is the page of an Android intent for devices without the app
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
