package advise

import (
	"time"

	"sundry/cache/policy"
	"sundry/metrics/words"
)

// Steps of the controller.
const (
	tooOld   = 0.7 // of the target, by the lower bound: the TTL is halved
	farBelow = 0.9 // of the target: the TTL may rise
	surelyOK = 1.5 // of the target, for the upper bound, likewise
	unknown  = 2   // of the target, by the upper bound where every refresh found a change: the TTL is halved
	riseBy   = 1.25
	// patience is how many TTLs pass before the next step down.
	patience = 2
	// between is the time between two steps up.
	between = 24 * time.Hour
	// stepUnit rounds what steps set.
	stepUnit = 100 * time.Millisecond
)

// Step is the TTL that the controller sets next, and why; the present one for no step. It
// compares what was seen under the present TTL with the target, never with a forecast of
// its own. Since is when the present TTL was set; the past is what was seen since.
func Step(past *Past, present *policy.Policy, target Target, since, now time.Time) (time.Duration, words.Text) {
	seen := past.Rule(present)
	in := now.Sub(since)
	higher, lower := *present, *present
	higher.TTL, lower.TTL = time.Duration(float64(present.TTL)*riseBy).Round(stepUnit), (present.TTL / 2).Round(stepUnit)
	switch {
	case target.Old > 0 && in >= patience*present.TTL && seen.exceeds(target.Old) && lower.TTL >= shortest && past.improves(&lower, &seen):
		return lower.TTL, seen.tooOld(target.Old)
	case target.Calls > 0 && seen.CallsLow > target.Calls && in >= between:
		return higher.TTL, words.Sayf("%.3g calls an hour are made, more than %.3g",
			"每小时调用 %.3g 次，超过目标 %.3g 次", seen.Calls, target.Calls)
	case in < between || target.Old == 0 || past.evidence.Refreshes < fewestLooks:
		return present.TTL, words.Text{}
	}
	if then := past.Rule(&higher); then.Older <= farBelow*target.Old && then.OlderHigh <= surelyOK*target.Old {
		return higher.TTL, words.Sayf("under %s, %s of answers would be old, within %s",
			"TTL 为 %s 时旧响应为 %s，仍在目标 %s 以内", lasting(higher.TTL), percent(then.Older), percent(target.Old))
	}
	return present.TTL, words.Text{}
}

// exceeds reports whether more answers are surely old than a target allows, or nobody knows
// how many more.
func (r *Rule) exceeds(target float64) bool {
	return r.Older > target && r.OlderLow > tooOld*target || r.AtMost && r.OlderHigh > unknown*target
}

// improves reports whether fewer answers would be old than under another rule.
func (past *Past) improves(policy *policy.Policy, on *Rule) bool {
	r := past.Rule(policy)
	return r.Older < on.Older || r.OlderHigh < on.OlderHigh
}

// tooOld is why the TTL is halved.
func (r *Rule) tooOld(target float64) words.Text {
	if r.Older > target {
		return words.Sayf("%s of answers are old, more than %s",
			"%s 的响应是旧的，超过目标 %s", percent(r.Older), percent(target))
	}
	return words.Sayf("every refresh finds a change: up to %s of answers are old",
		"每次刷新内容都有变化：旧响应可能多达 %s", percent(r.OlderHigh))
}
