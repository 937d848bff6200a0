package advise_test

import (
	"strings"
	"testing"

	"sundry/cache/advise/advisetest"
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
	worlds := advisetest.Worlds()
	for i := range worlds {
		want, ok := words[worlds[i].Name]
		if !ok {
			continue
		}
		delete(words, worlds[i].Name)
		if why := worlds[i].Judge(1, advisetest.All, 1).Reason; !strings.Contains(why.EN, want[0]) || !strings.Contains(why.ZH, want[1]) {
			t.Errorf("%s: %s / %s", worlds[i].Name, why.EN, why.ZH)
		}
	}
	for name := range words {
		t.Errorf("there is no world %q", name)
	}
}
