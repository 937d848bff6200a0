package plainjson

import (
	"testing"

	"sundry/upstreams/lib/costtest"
)

func TestLinear(t *testing.T) {
	costtest.Linear(t, func(text string) {
		_, _ = DecodeFirst([]byte(text), depth)
		_, _ = Append(nil, text)
		AppendString(nil, text)
	})
}
