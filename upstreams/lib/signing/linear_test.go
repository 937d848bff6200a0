package signing

import (
	"testing"

	"sundry/upstreams/lib/costtest"
)

// TestPagesAreReadInLinearTime.
func TestPagesAreReadInLinearTime(t *testing.T) {
	costtest.Linear(t, func(text string) { _, _ = ReadDouyinPage([]byte(text)) })
}
