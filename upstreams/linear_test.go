package upstreams

import (
	"fmt"
	"testing"

	"sundry/upstreams/lib/costtest"
)

// TestDerivedSecretsTakeLinearTime: a reply to a log-in may have any number of texts.
func TestDerivedSecretsTakeLinearTime(t *testing.T) {
	costtest.LinearInLength(t, func(length int) {
		values := make([]any, length/16)
		for i := range values {
			values[i] = fmt.Sprintf("%016d", i)
		}
		a := &Attempt{}
		a.Derive(values, 16)
	})
}
