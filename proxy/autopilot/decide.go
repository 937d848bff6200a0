// Package autopilot sets the TTL of endpoints as the advisor recommends it, within bounds
// that the operator gives. It promises that each step is small, that it takes none before
// the outcome of the last is known, that it reverts a step whose prediction fails, and that
// it leaves alone what an operator has changed.
package autopilot

import (
	"math"
	"time"

	"sundry/cache"
	"sundry/cache/advisor"
	"sundry/proxy/live"
)

// How careful it is.
const (
	// longestStep is the factor by which a step changes the TTL at most, and smallestStep
	// the one below which it is not worth it.
	longestStep  = 2.0
	smallestStep = 1.25
	// handsOff is how long an endpoint is left alone that an operator has changed.
	handsOff = 24 * time.Hour
	// firstPause is how long no step is taken after one was reverted. It doubles with each
	// that is reverted in a row, up to longestPause.
	firstPause   = 24 * time.Hour
	longestPause = 30 * 24 * time.Hour
)

// Rule is what is known of an endpoint when its TTL is decided about.
type Rule struct {
	Endpoint string
	Policy   *cache.Policy // in force
	// Min and Max bound the TTL, both included.
	Min, Max time.Duration
	Advice   *advisor.Advice
	// Trial is the last step; nil: there was none, or an operator changed the rule since.
	Trial *live.Trial
	// ByHand is when an operator last changed the rule; zero for never. Until is when what
	// he set expires; zero: it does not.
	ByHand, Until time.Time
}

// State is what the autopilot does about an endpoint.
type State string

// The states.
const (
	// Observing: too little is known of what the rule in force leads to.
	Observing State = "observing"
	// Trying: whether the last step was right is not known yet.
	Trying State = "trying"
	// Content: there is nothing to gain, or nothing that is sure enough.
	Content State = "content"
	// Doubtful: what the advisor predicts of the rule in force is not what happens.
	Doubtful State = "doubtful"
	// Paused: a step was reverted.
	Paused State = "paused"
	// ByHand: an operator has decided.
	ByHand State = "by_hand"
	// Stepping and Reverting: it changes the TTL now.
	Stepping  State = "stepping"
	Reverting State = "reverting"
)

// Decision is what to do about an endpoint, and why.
type Decision struct {
	State State
	Why   advisor.Reason
	// Next is when the next step can be taken at the earliest; zero: nobody knows, or now.
	Next time.Time
	// TTL to set, where the state is Stepping or Reverting.
	TTL time.Duration
	// Predicted is what a step leads to, and OldAtMost the share of old answers if the
	// content changes as often as is likely at most.
	Predicted advisor.Outcome
	OldAtMost float64
}

// Decide says what to do about an endpoint.
func Decide(r *Rule, now time.Time) Decision {
	if d, ok := r.leftAlone(now); ok {
		return d
	}
	trial := r.onTrial(now)
	seen, next := r.outcome(now)
	switch {
	case seen == nil && trial:
		return Decision{State: Trying, Next: next, Why: whyTrying(r.Trial)}
	case seen == nil:
		return Decision{State: Observing, Next: next, Why: whyObserving()}
	case trial:
		if why, failed := r.expectedOfTrial().failed(seen, now); failed {
			return Decision{State: Reverting, TTL: r.Trial.From, Why: whyReverted(r.Trial, why), Next: now.Add(pause(r.Trial.Reverts + 1))}
		}
	default:
		if why, failed := r.expectedOf(&r.Advice.Present).failed(seen, now); failed {
			return Decision{State: Doubtful, Why: whyDoubtful(why)}
		}
	}
	if r.Advice.Verdict != advisor.Set {
		return Decision{State: Content, Why: r.Advice.Reason}
	}
	return r.step()
}

// leftAlone decides about endpoints of which others have decided.
func (r *Rule) leftAlone(now time.Time) (Decision, bool) {
	until := r.ByHand.Add(handsOff)
	if r.Until.After(until) {
		until = r.Until
	}
	switch {
	case now.Before(until):
		return Decision{State: ByHand, Next: until, Why: whyByHand(until)}, true
	case r.Policy.TTL < r.Min || r.Policy.TTL > r.Max:
		return Decision{State: ByHand, Why: whyOutOfBounds(r)}, true
	case r.Trial != nil && r.Trial.Reverted.IsZero() && r.Trial.To != r.Policy.TTL:
		return Decision{State: Observing, Why: whyObserving()}, true // what is stored is not in force here yet
	case r.Trial != nil && now.Before(r.Trial.Until):
		return Decision{State: Paused, Next: r.Trial.Until, Why: whyPaused(r.Trial)}, true
	}
	return Decision{}, false
}

// step goes towards the recommended TTL, as far as that is sure and as a step may go.
func (r *Rule) step() Decision {
	target, why := r.sure(), r.Advice.Reason
	now := r.Policy.TTL
	target = min(max(target, r.Min), r.Max)
	if factor := target.Seconds() / now.Seconds(); factor < smallestStep && factor > 1/smallestStep {
		return Decision{State: Content, Why: whyNotSure(why, r)}
	}
	shortest, longest := time.Duration(float64(now)/longestStep), time.Duration(float64(now)*longestStep)
	ttl := rounded(min(max(target, shortest), longest))
	ttl = min(max(ttl, shortest, r.Min), longest, r.Max)
	policy := *r.Policy
	policy.TTL = ttl
	predicted := r.Advice.Prediction.Of(&policy)
	return Decision{State: Stepping, TTL: ttl, Predicted: predicted, OldAtMost: r.oldAtMost(ttl), Why: whyStepping(r, ttl, &predicted)}
}

// sure is the recommended TTL or, where the change interval is not known exactly, what
// would be recommended for the bound of it that is nearer to the rule in force.
func (r *Rule) sure() time.Duration {
	recommended, c := r.Advice.Recommended.TTL, &r.Advice.Change
	up := recommended > r.Policy.TTL
	switch {
	case c.Probable || !up && c.High == 0:
		return r.Policy.TTL
	case c.Interval == 0:
		return recommended // for the shortest interval that is likely
	case up:
		return max(r.Policy.TTL, scaled(recommended, c.Low, c.Interval))
	}
	return min(r.Policy.TTL, scaled(recommended, c.High, c.Interval))
}

func scaled(d, by, of time.Duration) time.Duration {
	return time.Duration(min(float64(d)*(by.Seconds()/of.Seconds()), math.MaxInt64/2))
}

// rounded is a TTL that people would write.
func rounded(d time.Duration) time.Duration {
	switch {
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond)
	case d < time.Minute:
		return d.Round(time.Second)
	case d < 10*time.Minute:
		return d.Round(10 * time.Second)
	case d < time.Hour:
		return d.Round(time.Minute)
	case d < 10*time.Hour:
		return d.Round(10 * time.Minute)
	}
	return d.Round(time.Hour)
}

// pause is how long no step is taken after so many reverted ones in a row.
func pause(reverts int) time.Duration {
	return min(firstPause<<min(max(reverts, 1)-1, 10), longestPause)
}
