package tracking

import (
	"testing"

	"sundry/upstreams/lib/costtest"
)

// TestEventsAreReadInLinearTime.
func TestEventsAreReadInLinearTime(t *testing.T) {
	costtest.Linear(t, func(text string) {
		MaskPhones(text)
		_, _ = ParseTime(text)
		State(text)
	})
}
