package httpsource

import (
	"testing"

	"sundry/upstreams/sharelink"
)

func TestUserAgentForShortLinks(t *testing.T) {
	for text, want := range map[string]string{"https://v.douyin.com/abc/": mobileUserAgent, "https://t.co/abc": userAgent, "https://vm.tiktok.com/abc/": userAgent} {
		link, err := sharelink.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := shareUserAgent(link); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}
