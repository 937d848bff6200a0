package shortlink

import (
	"net/url"
	"testing"

	"sundry/upstreams/lib/lineartest"
)

// TestPagesAreSearchedInLinearTime: the scripts of this host are searched in pages of any
// size.
func TestPagesAreSearchedInLinearTime(t *testing.T) {
	u := &url.URL{Scheme: "https", Host: "m.tb.cn"}
	lineartest.Check(t, func(text string) {
		search(u, []byte(text))
		refresh(text)
		literals(assignment, []string{text})
	})
}
