package advise

import (
	"fmt"
	"math"
	"time"

	"sundry/cache"
)

// Advice is the TTL that meets a target.
type Advice struct {
	Target Target
	// Rules by rising TTL, the present one among them.
	Rules []Rule
	// TTL that is advised; 0: none meets the target, or too little is known.
	TTL      time.Duration
	Reason   Reason
	Evidence Evidence
}

// Reason is one sentence.
type Reason struct{ EN, ZH string }

// Bounds of what is advised.
const (
	shortest = time.Second
	longest  = 366 * 24 * time.Hour
	// reach is how many steps of the ladder, each by the square root of two, lie on either
	// side of the present TTL: what is further away was not seen.
	reach = 8
	// fewestLooks are the refreshes, or for a target of calls the requests, below which
	// nothing is advised.
	fewestLooks = 20
	// leastSeen is the time whose requests tell of calls an hour.
	leastSeen = time.Hour
)

// Ladder are the TTLs to choose from, around the present one.
func Ladder(present time.Duration) []time.Duration {
	var out []time.Duration
	for step := -reach; step <= reach; step++ {
		ttl := time.Duration(float64(present) * math.Pow(2, float64(step)/2)).Round(time.Second)
		if step == 0 {
			ttl = present
		}
		if ttl >= shortest && ttl <= longest && (len(out) == 0 || ttl > out[len(out)-1]) {
			out = append(out, ttl)
		}
	}
	return out
}

// Advise replays each TTL of the ladder, with all else as the present policy has it.
func (past *Past) Advise(present *cache.Policy, ladder []time.Duration, target Target) Advice {
	a := Advice{Target: target, Evidence: past.evidence}
	for _, ttl := range ladder {
		policy := *present
		policy.TTL = ttl
		a.Rules = append(a.Rules, past.Rule(&policy))
	}
	if len(a.Rules) == 0 {
		a.Reason = Reason{"the timetable (until) decides how long answers are fresh, there is no TTL to advise", "响应的有效期由发布时刻（until）决定，没有可以建议的 TTL"}
		return a
	}
	// Calls are told by requests, whatever refreshes found.
	seen, en, zh := past.evidence.Refreshes, "refreshes", "刷新"
	if target.Old == 0 {
		seen, en, zh = past.evidence.Requests, "requests", "请求"
	}
	if seen < fewestLooks {
		a.Reason = Reason{
			fmt.Sprintf("%d %s were seen, too few for an advice; expected at least %d", seen, en, fewestLooks),
			fmt.Sprintf("只见过 %d 次%s，不足以给出建议，至少需要 %d 次", seen, zh, fewestLooks),
		}
		return a
	}
	if target.Old > 0 {
		a.forOld(target.Old)
	} else {
		a.forCalls(target.Calls)
	}
	return a
}

// forOld takes the longest TTL whose old share is within the target, and whose band is
// within twice the target.
func (a *Advice) forOld(target float64) {
	for i := len(a.Rules) - 1; i >= 0; i-- {
		if r := &a.Rules[i]; r.Older <= target && r.OlderHigh <= 2*target {
			a.TTL = r.TTL
			a.Reason = Reason{
				fmt.Sprintf("the longest TTL under which %s of answers at most would be old", percent(target)),
				fmt.Sprintf("旧响应不超过 %s 的最长 TTL", percent(target)),
			}
			return
		}
	}
	a.Reason = Reason{
		fmt.Sprintf("no TTL down to %v keeps old answers within %s", a.Rules[0].TTL, percent(target)),
		fmt.Sprintf("TTL 缩短到 %v，旧响应仍超过 %s", a.Rules[0].TTL, percent(target)),
	}
}

// forCalls takes the shortest TTL that needs no more calls than the target.
func (a *Advice) forCalls(target float64) {
	for i := range a.Rules {
		if r := &a.Rules[i]; r.Calls <= target {
			a.TTL = r.TTL
			a.Reason = Reason{
				fmt.Sprintf("the shortest TTL with %.3g calls an hour at most", target),
				fmt.Sprintf("每小时调用不超过 %.3g 次的最短 TTL", target),
			}
			return
		}
	}
	a.Reason = Reason{
		fmt.Sprintf("no TTL up to %v needs only %.3g calls an hour", a.Rules[len(a.Rules)-1].TTL, target),
		fmt.Sprintf("TTL 延长到 %v，每小时调用仍超过 %.3g 次", a.Rules[len(a.Rules)-1].TTL, target),
	}
}

func percent(share float64) string { return fmt.Sprintf("%.3g %%", share*100) }
