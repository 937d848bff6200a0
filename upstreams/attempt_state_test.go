package upstreams

import (
	"net/http"
	"testing"
)

func TestRequestsBearTheMark(t *testing.T) {
	for loop, want := range map[string]string{"": "sundry-a", "sundry-b": "sundry-b, sundry-a"} {
		h := http.Header{}
		(&Attempt{Call: &Call{Loop: loop}, loopID: "sundry-a"}).SendLoopID(h)
		if got := h.Get("CDN-Loop"); got != want {
			t.Errorf("after %q: %q, want %q", loop, got, want)
		}
	}
	h := http.Header{}
	if (&Attempt{Call: &Call{}}).SendLoopID(h); len(h) != 0 {
		t.Errorf("without an ID: %v", h)
	}
}
