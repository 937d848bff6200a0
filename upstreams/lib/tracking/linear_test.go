package tracking

import (
	"testing"

	"sundry/upstreams/lib/lineartest"
)

// TestEventsAreReadInLinearTime.
func TestEventsAreReadInLinearTime(t *testing.T) {
	lineartest.Check(t, func(text string) {
		MaskPhones(text)
		_, _ = ParseTime(text)
		State(text)
	})
}
