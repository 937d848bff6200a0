package favicon

import (
	"strings"
	"testing"

	"sundry/upstreams/lib/lineartest"
)

// TestPagesAndIconsAreReadInLinearTime.
func TestPagesAndIconsAreReadInLinearTime(t *testing.T) {
	lineartest.Check(t, func(text string) {
		if h, err := scanHead(strings.NewReader(text)); err == nil {
			ranked(h.links, 0)
			ranked(h.links, 64)
		}
		ranked([]link{{href: "a", sizes: text}, {href: "b", sizes: text}}, 64)
		isSVG([]byte(text))
		decodeData(text)
	})
}
