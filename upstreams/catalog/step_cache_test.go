package catalog

import (
	"context"
	"testing"
	"time"

	"sundry/cache"
	"sundry/cache/near"
	"sundry/cache/policy"
	"sundry/upstreams"
)

// Results of steps stay in this process, among the keys of callers' input unless
// all answers need them, for as long as the rule says.
func TestStepCacheFollowsTheRule(t *testing.T) {
	c, err := cache.New(cache.Config{Memory: near.MinMemory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	for shared, class := range map[bool]policy.Class{false: policy.Keyed, true: policy.Shared} {
		rule := upstreams.StepCacheRule{Step: "playlist", Version: "v1", Lasts: time.Hour, Timeout: 5 * time.Second, Shared: shared}
		shelf := StepCache{Cache: c}.Open("music", rule)
		v, _, err := shelf.Get(t.Context(), "list 1", func(context.Context) (any, error) { return "songs", nil })
		if err != nil || v != "songs" {
			t.Errorf("%v, %v", v, err)
		}
		p := c.Spaces("music")[0].Policy()
		if p.TTL != rule.Lasts || p.FillTimeout != rule.Timeout || p.Class != class || !p.Local || p.Pause != 0 {
			t.Errorf("shared %v: %+v", shared, p)
		}
	}
}
