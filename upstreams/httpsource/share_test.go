package httpsource

import (
	"testing"

	"sundry/upstreams"
	"sundry/upstreams/sharelink"
)

func TestUserAgentForShortLinks(t *testing.T) {
	st := &step{env: &upstreams.Environment{}}
	own := upstreams.DefaultAgents().Own
	for text, want := range map[string]string{"https://v.douyin.com/abc/": mobileUserAgent, "https://t.co/abc": own, "https://vm.tiktok.com/abc/": own} {
		link, err := sharelink.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := st.shareUserAgent(link); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}
