package redact

import (
	"testing"

	"sundry/upstreams/lib/costtest"
)

func TestRedactionIsLinear(t *testing.T) {
	r := New("31415926", "signature")
	costtest.Linear(t, func(text string) { r.Text(text) })
}
