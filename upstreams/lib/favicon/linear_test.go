package favicon

import (
	"strings"
	"testing"

	"sundry/upstreams/lib/costtest"
)

// TestPagesAndIconsAreReadInLinearTime.
func TestPagesAndIconsAreReadInLinearTime(t *testing.T) {
	costtest.Linear(t, func(text string) {
		if h, err := scanHead(strings.NewReader(text)); err == nil {
			ranked(h.links, 0)
			ranked(h.links, 64)
		}
		ranked([]link{{href: "a", sizes: text}, {href: "b", sizes: text}}, 64)
		isSVG([]byte(text))
		decodeData(text)
	})
}
