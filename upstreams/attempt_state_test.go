package upstreams

import (
	"net/http"
	"testing"
)

func TestRequestsBearTheMark(t *testing.T) {
	for loop, want := range map[string]string{"": "sundry-a", "sundry-b": "sundry-b, sundry-a"} {
		h := http.Header{}
		(&Attempt{Call: &Call{Loop: loop}, mark: "sundry-a"}).MarkLoop(h)
		if got := h.Get("CDN-Loop"); got != want {
			t.Errorf("after %q: %q, want %q", loop, got, want)
		}
	}
	h := http.Header{}
	if (&Attempt{Call: &Call{}}).MarkLoop(h); len(h) != 0 {
		t.Errorf("without a mark: %v", h)
	}
}
