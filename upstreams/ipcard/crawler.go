package ipcard

import (
	"regexp"
	"strings"
)

// robot is a name that ends in what crawlers call themselves.
var robot = regexp.MustCompile(`(?i)[a-z0-9_.-]*(?:bot|spider|crawler)(?:-[\w-]+)?\b`)

// crawler is the name that a crawler gives itself, or empty.
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
	// Nearly no visitor is one, and the expression takes long to say so.
	lower := strings.ToLower(ua)
	if !strings.Contains(lower, "bot") && !strings.Contains(lower, "spider") && !strings.Contains(lower, "crawler") {
		return ""
	}
	for _, name := range robot.FindAllString(ua, 4) {
		if !strings.EqualFold(name, "cubot") { // Cubot makes phones
			return truncate(name, 32)
		}
	}
	return ""
}
