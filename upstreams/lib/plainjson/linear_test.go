package plainjson

import (
	"testing"

	"sundry/upstreams/lib/lineartest"
)

func TestLinear(t *testing.T) {
	lineartest.Check(t, func(text string) {
		_, _ = DecodeFirst([]byte(text), depth)
		_, _ = Append(nil, text)
		AppendString(nil, text)
	})
}
