package recorded

import (
	"strings"
	"testing"
	"testing/synctest"

	"sundry/upstreams/host"
	"sundry/upstreams/replay"
)

// Where no source gives a link, songs that need no subscription have the platform's own
// redirect, which is resolved from the caller's place; others have none.
func TestSongsThatTheCallerResolves(t *testing.T) {
	th := newReplayed(t, host.Config{Failures: 1 << 20, Ratio: 2})
	e, _ := th.Get("music")
	for _, s := range e.Sources() {
		if s.Declared != "netease-names" {
			th.faults["music/"+s.Declared] = replay.Fault{Error: 1, Status: 500}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		call := answeredCall{endpoint: e, query: "type=url"}
		content, in, err := call.load(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		links := content.Forms[in.Form.FormIndex()]
		if len(links) == 0 {
			t.Error("type=url has nothing to redirect to")
		}
		for _, body := range links {
			if !strings.HasPrefix(body.Location, "https://music.163.com/song/media/outer/url?id=2100") || !strings.HasSuffix(body.Location, ".mp3") {
				t.Errorf("redirects to %s", body.Location)
			}
		}
		call.query = "type=json"
		content, in, err = call.load(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, body := range content.Forms[in.Form.FormIndex()] {
			text := string(body.Data)
			linked := !strings.Contains(text, `"url":null`)
			if linked != strings.Contains(text, `"playable":null`) || linked == strings.Contains(text, `"playable":false`) {
				t.Errorf("playable does not fit the link: %s", text)
			}
			found[map[bool]string{true: "free", false: "not free"}[linked]] = true
		}
		if len(found) != 2 {
			t.Errorf("the replay has songs of one kind alone: %v", found)
		}
	})
}
