package catalog

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

var (
	hostOnPage = regexp.MustCompile(`<p class="host"[^>]*>(.*)</p>`)
	linkOnPage = regexp.MustCompile(`<a class="on" href="([^"]*)"`)
)

// TestInterstitial: the page shows where a link leads, and holds nothing of the
// link but as text and as the address that it leads to.
func TestInterstitial(t *testing.T) {
	for link, want := range map[string][2]string{ // the host as shown, the address
		"https://example.com/a?b=1&c=2":                       {"example.com", "https://example.com/a?b=1&c=2"},
		"http://EXAMPLE.com:8080/":                            {"example.com", "http://example.com:8080/"},
		"https://xn--fsqu00a.example/":                        {"xn--fsqu00a.example <bdi>(例子.example)</bdi>", "https://xn--fsqu00a.example/"},
		"https://аpple.example/":                              {"xn--pple-43d.example <bdi>(аpple.example)</bdi>", "https://xn--pple-43d.example/"},
		`https://example.com/"><script>alert(1)</script>`:     {"example.com", "https://example.com/%22%3E%3Cscript%3Ealert%281%29%3C/script%3E"},
		`https://example.com/?q="onclick=x&'<b>`:              {"example.com", "https://example.com/?q=%22onclick=x&%27%3cb%3e"},
		"https://[2001:db8::1]/":                              {"2001:db8::1", "https://[2001:db8::1]/"},
		"https://example.com.attacker.example/x#\u202emoc.hr": {"example.com.attacker.example", "https://example.com.attacker.example/x#%E2%80%AEmoc.hr"},
	} {
		body, err := (&Form{Kind: "interstitial", Pool: true}).interstitial(link)
		if err != nil {
			t.Errorf("%s: %v", link, err)
			continue
		}
		page := string(body.Data)
		host, on := hostOnPage.FindStringSubmatch(page), linkOnPage.FindStringSubmatch(page)
		if host == nil || on == nil || host[1] != want[0] || html.UnescapeString(on[1]) != want[1] {
			t.Errorf("%s: %q %q, want %q", link, host, on, want)
		}
		if body.Status != http.StatusOK || body.Location != "" || strings.Contains(page, "<script") || strings.Contains(page, "\u202e") || strings.Count(page, "<a ") != 1 {
			t.Errorf("%s: %d %s\n%s", link, body.Status, body.Location, page)
		}
		for _, part := range []string{"nofollow", "noreferrer", "noopener", "即将离开本站", "Leaving this service"} {
			if !strings.Contains(page, part) {
				t.Errorf("%s: the page lacks %s", link, part)
			}
		}
	}
	for _, link := range []string{"", "/x", "javascript:alert(1)", "data:text/html,x", "ftp://example.com/", "https://", "https://user:secret@example.com/", "https://exa mple.com/", "//example.com/x"} {
		if body, err := (&Form{Kind: "interstitial", Pool: true}).interstitial(link); err == nil {
			t.Errorf("%q has a page: %s", link, body.Data)
		}
	}
}
