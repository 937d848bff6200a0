package advise

import (
	"math"
	"slices"
	"time"

	"sundry/cache/policy"
	"sundry/metrics/words"
)

// Advice is the TTL that meets a target.
type Advice struct {
	Target Target
	// Rules by rising TTL, the present one among them.
	Rules []Rule
	// TTL that is advised; 0: none meets the target, or too little is known.
	TTL      time.Duration
	Reason   words.Text
	Evidence Evidence
	// Edition is a hint that the content changes once a day, at a time; nil: it does not seem
	// to.
	Edition *Edition
}

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
		ttl := usual(time.Duration(float64(present) * math.Pow(2, float64(step)/2)))
		if step == 0 {
			ttl = present
		}
		if ttl >= shortest && ttl <= longest && (len(out) == 0 || ttl > out[len(out)-1]) {
			out = append(out, ttl)
		}
	}
	return out
}

// usual is the next shorter TTL that people would write.
func usual(ttl time.Duration) time.Duration {
	switch {
	case ttl < 10*time.Second:
		return ttl.Truncate(time.Second)
	case ttl < time.Minute:
		return ttl.Truncate(5 * time.Second)
	case ttl < 10*time.Minute:
		return ttl.Truncate(30 * time.Second)
	case ttl < time.Hour:
		return ttl.Truncate(5 * time.Minute)
	case ttl < 10*time.Hour:
		return ttl.Truncate(30 * time.Minute)
	case ttl < 48*time.Hour:
		return ttl.Truncate(time.Hour)
	}
	return ttl.Truncate(12 * time.Hour)
}

// Advise replays each TTL of the ladder, with all else as the present policy has it, and
// shorter ones if none of them meets a target of old answers.
func (past *Past) Advise(present *policy.Policy, ladder []time.Duration, target Target) Advice {
	a := Advice{Target: target, Evidence: past.evidence, Edition: past.edition()}
	for _, ttl := range ladder {
		a.Rules = append(a.Rules, past.under(present, ttl))
	}
	switch {
	case len(a.Rules) == 0 || present.Until != nil:
		a.Reason = timetable()
	case target.Old > 0 && past.evidence.Refreshes < fewestLooks:
		a.Reason = tooFew(past.evidence.Refreshes)
	case target.Old == 0 && (past.evidence.Requests < fewestLooks || past.to-past.from < leastSeen.Milliseconds()): // calls need no refreshes
		a.Reason = tooShort(past.evidence.Requests)
	case target.Old > 0:
		past.forOld(&a, present)
	default:
		a.forCalls()
	}
	return a
}

// under replays a TTL.
func (past *Past) under(present *policy.Policy, ttl time.Duration) Rule {
	policy := *present
	policy.TTL = ttl
	return past.Rule(&policy)
}

// forOld takes the longest TTL that meets the target.
func (past *Past) forOld(a *Advice, present *policy.Policy) {
	for i := len(a.Rules) - 1; i >= 0; i-- {
		if r := &a.Rules[i]; r.meets(a.Target.Old) {
			a.TTL, a.Reason = r.TTL, a.longest(i)
			return
		}
	}
	if r := past.shorter(present, a.Rules[0].TTL, a.Target.Old); r != nil {
		a.TTL, a.Rules = r.TTL, slices.Insert(a.Rules, 0, *r)
		a.Reason = farAbove(r.TTL, present.TTL, a.Target.Old)
		return
	}
	a.Reason = past.noTTL(a, present)
}

// meets reports whether the old share is within a target, and its band within twice that.
func (r *Rule) meets(target float64) bool { return r.Older <= target && r.OlderHigh <= 2*target }

// shorter halves a TTL until it meets the target; nil: none does.
func (past *Past) shorter(present *policy.Policy, ttl time.Duration, target float64) *Rule {
	for ttl = usual(ttl / 2); ttl >= shortest; ttl = usual(ttl / 2) {
		if r := past.under(present, ttl); r.meets(target) {
			return &r
		}
	}
	return nil
}

// forCalls takes the shortest TTL that needs no more calls than the target.
func (a *Advice) forCalls() {
	for i := range a.Rules {
		if r := &a.Rules[i]; r.Calls <= a.Target.Calls {
			a.TTL, a.Reason = r.TTL, fewCalls(a.Target.Calls)
			return
		}
	}
	a.Reason = tooManyCalls(a.Rules[len(a.Rules)-1].TTL, a.Target.Calls)
}
