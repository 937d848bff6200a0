package explain

import (
	"testing"
	"time"
)

// TestSpan: what is long is said in minutes, hours or days, and rounded.
func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		400 * time.Millisecond:  "400 毫秒",
		1500 * time.Millisecond: "2 秒",
		179 * time.Second:       "179 秒",
		203 * time.Second:       "3 分钟",
		-203 * time.Second:      "3 分钟",
		179 * time.Minute:       "179 分钟",
		200 * time.Minute:       "3 小时",
		80 * time.Hour:          "3 天",
	} {
		if got := span(d).ZH(); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
