package advise_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sundry/cache/advise"
)

// TestReasons name what matters.
func TestReasons(t *testing.T) {
	words := map[string][2]string{
		"long grace":     {"within grace (1h)", "宽限期"},
		"TTL far above":  {"the present TTL of 2h is far above", "远快于当前 TTL"},
		"never changes":  {"even under the longest TTL", "最长 TTL"},
		"always another": {"every refresh of some keys found a change", "每次刷新内容都有变化"},
		"an hour":        {"the longest TTL under which 2 %", "旧响应不超过 2 %"},
	}
	worlds := Worlds()
	for i := range worlds {
		want, ok := words[worlds[i].Name]
		if !ok {
			continue
		}
		delete(words, worlds[i].Name)
		if why := worlds[i].Judge(1, All, 1).Reason; !strings.Contains(why.EN(), want[0]) || !strings.Contains(why.ZH(), want[1]) {
			t.Errorf("%s: %s / %s", worlds[i].Name, why.EN(), why.ZH())
		}
	}
	for name := range words {
		t.Errorf("there is no world %q", name)
	}
}

// TestTheLadderIsOfUsualTTLs: rising, with the present one, a factor of sixteen both ways.
func TestTheLadderIsOfUsualTTLs(t *testing.T) {
	for present, want := range map[time.Duration]string{
		time.Second:                "[1s 2s 4s 5s 8s 10s 15s]",
		10 * time.Minute:           "[35s 50s 1m0s 1m30s 2m30s 3m30s 5m0s 7m0s 10m0s 20m0s 25m0s 40m0s 55m0s 1h0m0s 1h30m0s 2h30m0s]",
		24*time.Hour + time.Minute: "[1h30m0s 2h0m0s 3h0m0s 4h0m0s 6h0m0s 8h0m0s 12h0m0s 16h0m0s 24h1m0s 33h0m0s 48h0m0s 60h0m0s 96h0m0s 132h0m0s 192h0m0s 264h0m0s 384h0m0s]",
	} {
		if got := fmt.Sprint(advise.Ladder(present)); got != want {
			t.Errorf("%v: %s", present, got)
		}
	}
}
