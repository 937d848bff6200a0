package redact

import (
	"testing"

	"sundry/upstreams/lib/lineartest"
)

func TestRedactionIsLinear(t *testing.T) {
	r := New(Forms("31415926"), []string{"signature"})
	lineartest.Check(t, func(text string) { r.Text(text) })
}
