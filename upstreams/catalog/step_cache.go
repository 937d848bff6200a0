package catalog

import (
	"sundry/cache"
	"sundry/cache/policy"
	"sundry/upstreams"
)

// StepCache keeps the results of steps in the cache, each step's in a space of
// its own beside its endpoint's: bounded, purged and inspected as answers are.
type StepCache struct{ Cache *cache.Cache }

var _ upstreams.StepCache = StepCache{}

// Open implements upstreams.StepCache. The results stay in this process: they may
// be sessions at an upstream. A failure makes no pause of its own: the answers
// that need the result have theirs.
func (c StepCache) Open(endpoint string, rule upstreams.StepCacheRule) upstreams.StepResults {
	class := policy.Keyed
	if rule.Shared {
		class = policy.Shared
	}
	v := c.Cache.Space(endpoint+"/"+rule.Step, policy.Policy{
		TTL: rule.Lasts, FillTimeout: rule.Timeout, Class: class, Local: true,
	}).Values("step", rule.Version)
	v.Session = rule.Session
	return v
}
