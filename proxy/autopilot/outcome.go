package autopilot

import (
	"math"
	"time"

	"sundry/cache/advisor"
)

// When the outcome of a rule is known, and when a prediction has failed.
const (
	// An outcome is known from so many calls and requests on, after leastTime and leastTTLs
	// of the TTL (of the longer one, after a step): at first, entries are of the rule
	// before, or those of a cold cache.
	enoughCalls    = 20
	enoughRequests = 100
	leastTime      = time.Hour
	leastTTLs      = 3
	// A step is on trial for trialTime or trialTTLs of its TTL. What comes later is not its
	// doing.
	trialTime = 48 * time.Hour
	trialTTLs = 30
	// tolerance is the factor by which calls and old answers may be more than predicted,
	// beside what is chance.
	tolerance = 1.5
	// littleOld is a share of old answers that is not worth a word.
	littleOld = 0.02
)

// onTrial reports whether what happens now is the outcome of the last step.
func (r *Rule) onTrial(now time.Time) bool {
	t := r.Trial
	return t != nil && t.Reverted.IsZero() && t.To == r.Policy.TTL && now.Sub(t.At) < max(trialTime, trialTTLs*t.To)
}

// outcome is what has come of the rule in force; nil while it is not known, and when it
// can be known at the earliest.
func (r *Rule) outcome(now time.Time) (known *advisor.Measured, next time.Time) {
	m := r.Advice.Measured
	if m == nil || m.TTL != r.Policy.TTL || m.Grace != r.Policy.Grace {
		return nil, now.Add(leastTime)
	}
	settle := r.Policy.TTL
	if r.onTrial(now) {
		settle = max(settle, r.Trial.From)
	}
	next = m.Since.Add(max(leastTime, leastTTLs*settle))
	passed := now.Sub(m.Since)
	calls := m.CallsPerHour * passed.Hours()
	for _, share := range []float64{calls / enoughCalls, m.Requests / enoughRequests} {
		if share > 0 && share < 1 {
			next = later(next, m.Since.Add(time.Duration(min(passed.Seconds()/share, 1e9)*1e9)))
		}
	}
	if now.Before(next) || calls < enoughCalls || m.Requests < enoughRequests {
		return nil, later(next, now)
	}
	return m, time.Time{}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// expectation is what was predicted of a rule.
type expectation struct {
	calls    float64 // an hour
	old      float64 // share, at most
	requests float64 // per second, for which that was predicted
	// chance is how likely a refresh finds a change.
	chance float64
}

func (r *Rule) expectedOf(o *advisor.Outcome) expectation {
	return expectation{o.CallsPerHour, r.oldAtMost(o.TTL), r.Advice.RequestsPerSecond, r.chance(o.TTL)}
}

func (r *Rule) expectedOfTrial() expectation {
	t := r.Trial
	return expectation{t.Calls, t.OldAtMost, t.Requests, r.chance(t.To)}
}

// oldAtMost is the predicted share of old answers with a TTL, if the content changes as
// often as is likely at most: an estimate may be off, and a step is not wrong for that.
func (r *Rule) oldAtMost(ttl time.Duration) float64 {
	policy, prediction := *r.Policy, r.Advice.Prediction
	policy.TTL = ttl
	if low := r.Advice.Change.Low; prediction.Period == 0 && low > 0 {
		prediction.ChangeRate = max(prediction.ChangeRate, 1/low.Seconds())
	}
	return prediction.Of(&policy).OldShare
}

// chance is how likely the content changes within a TTL, by what is known now.
func (r *Rule) chance(ttl time.Duration) float64 {
	interval := r.Advice.Change.Interval
	if interval == 0 {
		interval = r.Advice.Change.Low
	}
	if interval == 0 {
		return 1
	}
	return -math.Expm1(-ttl.Seconds() / interval.Seconds())
}

// failed compares what happened with what was expected. More requests may lead to more
// calls, and of few refreshes the number that finds a change is chance.
func (e expectation) failed(m *advisor.Measured, now time.Time) (advisor.Reason, bool) {
	hours := now.Sub(m.Since).Hours()
	calls := e.calls
	if e.requests > 0 {
		calls *= max(1, m.Requests/(3600*hours)/e.requests)
	}
	if more := m.CallsPerHour - calls; m.CallsPerHour > tolerance*calls && more*hours > 3*math.Sqrt(calls*hours) {
		return whyMoreCalls(m.CallsPerHour, calls), true
	}
	found := max(1, m.CallsPerHour*hours*e.chance)
	if m.OldKnown && m.OldShare > e.old*(tolerance+2/math.Sqrt(found)) && m.OldShare > e.old+littleOld {
		return whyMoreOld(m.OldShare, e.old), true
	}
	return advisor.Reason{}, false
}
