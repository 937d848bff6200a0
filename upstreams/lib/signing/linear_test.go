package signing

import (
	"testing"

	"sundry/upstreams/lib/lineartest"
)

// TestPagesAreReadInLinearTime.
func TestPagesAreReadInLinearTime(t *testing.T) {
	lineartest.Check(t, func(text string) { _, _ = ReadDouyinPage([]byte(text)) })
}
