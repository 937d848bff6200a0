package minecraft

import (
	"testing"

	"sundry/upstreams/lib/costtest"
)

// TestStatusesAreReadInLinearTime.
func TestStatusesAreReadInLinearTime(t *testing.T) {
	costtest.Linear(t, func(text string) {
		_, _ = parseStatus([]byte(text))
		_, _ = parseStatus([]byte(`{"description":` + text + `}`))
		_, _ = parseKick(text)
	})
}
