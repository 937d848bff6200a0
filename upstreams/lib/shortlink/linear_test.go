package shortlink

import (
	"net/url"
	"testing"

	"sundry/upstreams/lib/costtest"
)

// TestPagesAreSearchedInLinearTime: the scripts of this host are searched in pages of any
// size.
func TestPagesAreSearchedInLinearTime(t *testing.T) {
	u := &url.URL{Scheme: "https", Host: "m.tb.cn"}
	costtest.Linear(t, func(text string) {
		search(u, []byte(text))
		refresh(text)
		readScripts([]string{text}).redirects()
	})
}
