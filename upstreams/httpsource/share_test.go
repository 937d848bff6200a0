package httpsource

import (
	"net/http"
	"testing"

	"sundry/upstreams"
	"sundry/upstreams/lib/guard"
	"sundry/upstreams/lib/sharelink"
)

func TestUserAgentForShortLinks(t *testing.T) {
	st := &step{env: &upstreams.Environment{}}
	own := upstreams.DefaultAgents().Own
	for text, want := range map[string]string{"https://v.douyin.com/abc/": phoneAgent, "https://t.co/abc": own, "https://vm.tiktok.com/abc/": own} {
		link, err := sharelink.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := st.shareUserAgent(link); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// A client has connections of its own: one for each link would leave them behind.
func TestClientsOfShortLinksAreKept(t *testing.T) {
	env := &upstreams.Environment{Guard: guard.New(guard.Config{}), Transport: &http.Transport{}}
	st := &step{env: env, endpoint: "vidparse", source: "one"}
	st.compileShare()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://t.co/abc", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := upstreams.ParseProxy("http://127.0.0.1:1080")
	if err != nil {
		t.Fatal(err)
	}
	clients := map[*http.Client]bool{}
	for _, proxies := range []upstreams.Proxies{{}, {Default: &proxy}} {
		env.SetOutgoing(upstreams.Outgoing{Proxies: proxies})
		clients[st.shareClient(req)] = true
		clients[st.shareClient(req)] = true
	}
	if len(clients) != 2 {
		t.Errorf("%d clients, want one without a proxy and one through it", len(clients))
	}
}
