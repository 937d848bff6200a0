package redact

import (
	"testing"

	"sundry/upstreams/lib/costtest"
)

func TestRedactionIsLinear(t *testing.T) {
	r := New(Forms("31415926"), []string{"signature"})
	costtest.Linear(t, func(text string) { r.Text(text) })
}
