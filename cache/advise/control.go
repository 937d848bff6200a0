package advise

import (
	"time"

	"sundry/cache"
)

// Steps of the controller.
const (
	tooOld   = 0.7 // of the target, by the lower bound: the TTL is halved
	farBelow = 0.9 // of the target: the TTL may rise
	surelyOK = 1.5 // of the target, for the upper bound, likewise
	riseBy   = 1.25
	// patience is how many TTLs pass before the next step down.
	patience = 2
	// between is the time between two steps up.
	between = 24 * time.Hour
)

// Step is the TTL that the controller sets next, and why; the present one for no step. It
// compares what was seen under the present TTL with the target, never with a forecast of
// its own. Since is when the present TTL was set; the past is what was seen since.
func Step(past *Past, present *cache.Policy, target Target, since, now time.Time) (time.Duration, Reason) {
	seen := past.Rule(present)
	in := now.Sub(since)
	higher, lower := *present, *present
	higher.TTL, lower.TTL = time.Duration(float64(present.TTL)*riseBy), present.TTL/2
	switch {
	case target.Old > 0 && in >= patience*present.TTL && seen.Older > target.Old && seen.OlderLow > tooOld*target.Old && lower.TTL >= shortest && past.Rule(&lower).Older < seen.Older:
		return lower.TTL, Reason{"more answers are old than the target allows", "旧响应超过目标"}
	case target.Calls > 0 && seen.CallsLow > target.Calls && in >= between:
		return higher.TTL, Reason{"more calls are made than the target allows", "上游调用超过目标"}
	case in < between || target.Old == 0 || past.evidence.Refreshes < fewestLooks:
		return present.TTL, Reason{}
	}
	if then := past.Rule(&higher); then.Older <= farBelow*target.Old && then.OlderHigh <= surelyOK*target.Old {
		return higher.TTL, Reason{"fewer answers are old than the target allows", "旧响应远低于目标"}
	}
	return present.TTL, Reason{}
}
