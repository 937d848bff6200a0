package minecraft

import (
	"testing"

	"sundry/upstreams/lib/lineartest"
)

// TestStatusesAreReadInLinearTime.
func TestStatusesAreReadInLinearTime(t *testing.T) {
	lineartest.Check(t, func(text string) {
		_, _ = parseStatus([]byte(text))
		_, _ = parseStatus([]byte(`{"description":` + text + `}`))
		_, _ = parseKick(text)
	})
}
