package autopilot

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/cache"
	"sundry/cache/advisor"
	"sundry/proxy/live"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// known is an endpoint with a TTL of 10 minutes, a request a second for its one key, and a
// content that changes at random every 4 hours or so: 30 minutes are recommended. What
// happens is what was predicted.
func known() *Rule {
	policy := &cache.Policy{TTL: 10 * time.Minute, Grace: time.Minute}
	p := advisor.Prediction{Loads: []advisor.Load{{Keys: 1, Rate: 1}}, ChangeRate: 1.0 / (4 * 3600)}
	present, recommended := p.Of(policy), p.Of(&cache.Policy{TTL: 30 * time.Minute, Grace: time.Minute})
	return &Rule{
		Endpoint: "ip", Policy: policy, Min: time.Minute, Max: 2 * time.Hour,
		Advice: &advisor.Advice{
			Change:            advisor.Change{Kind: advisor.Random, Interval: 4 * time.Hour, Low: 4 * time.Hour, High: 4 * time.Hour},
			RequestsPerSecond: 1, Verdict: advisor.Set, Present: present, Recommended: recommended, Prediction: p,
			Measured: measured(policy, &present, 10*time.Hour),
			Reason:   advisor.Reason{EN: "Because.", ZH: "因为。"},
		},
	}
}

// measured is that a rule has led to an outcome, for some time.
func measured(p *cache.Policy, o *advisor.Outcome, d time.Duration) *advisor.Measured {
	return &advisor.Measured{
		Since: noon.Add(-d), TTL: p.TTL, Grace: p.Grace, CallsPerHour: o.CallsPerHour, HitRatio: o.HitRatio, OldShare: o.OldShare, OldKnown: true, Requests: d.Seconds(),
	}
}

// tried makes the rule in force the last step, from 5 minutes, as long ago as it is measured.
func tried(r *Rule) *live.Trial {
	r.Trial = &live.Trial{
		At: r.Advice.Measured.Since.Add(-time.Second), From: 5 * time.Minute, To: r.Policy.TTL,
		Calls: r.Advice.Present.CallsPerHour, Old: r.Advice.Present.OldShare, OldAtMost: r.Advice.Present.OldShare, Requests: 1,
	}
	return r.Trial
}

func recommend(r *Rule, ttl time.Duration) {
	p := *r.Policy
	p.TTL = ttl
	r.Advice.Recommended = r.Advice.Prediction.Of(&p)
}

// situation is what an endpoint is like, and what is decided about it.
type situation struct {
	name  string
	given func(*Rule)
	state State
	ttl   time.Duration
	next  time.Duration // from noon
	why   string
}

// steps: where a step leads.
func steps() []situation {
	return []situation{
		{name: "a step up, no more than twice", given: func(*Rule) {}, state: Stepping, ttl: 20 * time.Minute, why: "From 10m to 20m: "},
		{name: "all the way, if that is less", given: func(r *Rule) { recommend(r, 15*time.Minute) }, state: Stepping, ttl: 15 * time.Minute},
		{name: "a step down, no more than half", given: func(r *Rule) { recommend(r, 2*time.Minute) }, state: Stepping, ttl: 5 * time.Minute, why: "From 10m to 5m: "},
		{name: "up to the bound", given: func(r *Rule) { r.Max = 17 * time.Minute }, state: Stepping, ttl: 17 * time.Minute},
		{name: "down to the bound", given: func(r *Rule) { recommend(r, time.Minute); r.Min = 7 * time.Minute }, state: Stepping, ttl: 7 * time.Minute},
		{name: "at the bound", given: func(r *Rule) { r.Max = 10 * time.Minute }, state: Content, why: "within 1m and 10m"},
		{name: "too near to be worth it", given: func(r *Rule) { recommend(r, 12*time.Minute) }, state: Content, why: "not worth it"},
		{name: "nothing to gain", given: func(r *Rule) { r.Advice.Verdict = advisor.Keep }, state: Content, why: "Because."},
		{name: "too little known", given: func(r *Rule) { r.Advice.Verdict = advisor.Wait }, state: Content, why: "Because."},
		{name: "a timetable to declare", given: func(r *Rule) { r.Advice.Verdict = advisor.Schedule }, state: Content},
	}
}

// sureness: how sure the estimate is.
func sureness() []situation {
	return []situation{
		{name: "up as far as the shortest interval says", given: func(r *Rule) { r.Advice.Change.Low = 2 * time.Hour }, state: Stepping, ttl: 15 * time.Minute},
		{name: "not up while the interval may be much shorter", given: func(r *Rule) { r.Advice.Change.Low = time.Hour }, state: Content, why: "not sure enough"},
		{name: "down as far as the longest interval says", given: func(r *Rule) { recommend(r, 2*time.Minute); r.Advice.Change.High = 12 * time.Hour }, state: Stepping, ttl: 6 * time.Minute},
		{name: "not down while the interval may be much longer", given: func(r *Rule) { recommend(r, 2*time.Minute); r.Advice.Change.High = 20 * time.Hour }, state: Content},
		{name: "not down without an upper bound", given: func(r *Rule) { recommend(r, 2*time.Minute); r.Advice.Change.High = 0 }, state: Content},
		{name: "not for a period that is only probable", given: func(r *Rule) { r.Advice.Change.Probable = true }, state: Content},
		{
			name: "up where no change was seen, for the shortest interval that is likely", state: Stepping, ttl: 20 * time.Minute,
			given: func(r *Rule) {
				r.Advice.Change = advisor.Change{Kind: advisor.Unchanged, Low: 4 * time.Hour}
			},
		},
	}
}

// outcomes: when the outcome is known.
func outcomes() []situation {
	return []situation{
		{name: "nothing is measured yet", given: func(r *Rule) { r.Advice.Measured = nil }, state: Observing, next: time.Hour},
		{name: "another rule was measured", given: func(r *Rule) { r.Advice.Measured.TTL = time.Minute }, state: Observing, next: time.Hour},
		{name: "half an hour", given: func(r *Rule) { r.Advice.Measured = measured(r.Policy, &r.Advice.Present, 30*time.Minute) }, state: Observing, next: 170 * time.Minute},
		{
			name: "three hours of a TTL of two", state: Observing, next: 3 * time.Hour,
			given: func(r *Rule) {
				r.Policy.TTL = 2 * time.Hour
				r.Advice.Measured = measured(r.Policy, &advisor.Outcome{CallsPerHour: 60}, 3*time.Hour)
			},
		},
		{name: "ten calls", given: func(r *Rule) { r.Advice.Measured.CallsPerHour = 1 }, state: Observing, next: 10 * time.Hour},
		{name: "fifty requests", given: func(r *Rule) { r.Advice.Measured.Requests = 50 }, state: Observing, next: 10 * time.Hour},
		{name: "half an hour after a step", given: func(r *Rule) {
			r.Advice.Measured = measured(r.Policy, &r.Advice.Present, 30*time.Minute)
			tried(r)
		}, state: Trying, next: 170 * time.Minute, why: "from 5m to 10m"},
		{name: "after a step down, three of the longer TTL", given: func(r *Rule) {
			r.Advice.Measured = measured(r.Policy, &advisor.Outcome{CallsPerHour: 60}, 2*time.Hour)
			tried(r).From = 2 * time.Hour
		}, state: Trying, next: 4 * time.Hour},
		{name: "a step that kept its promise is followed by another", given: func(r *Rule) { tried(r) }, state: Stepping, ttl: 20 * time.Minute},
	}
}

// failures: when predictions fail.
func failures() []situation {
	return []situation{
		{name: "twice the calls", given: func(r *Rule) { tried(r); r.Advice.Measured.CallsPerHour *= 2 }, state: Reverting, ttl: 5 * time.Minute, next: 24 * time.Hour, why: "is reverted: there were 12"},
		{name: "a few more calls", given: func(r *Rule) { tried(r); r.Advice.Measured.CallsPerHour *= 1.4 }, state: Stepping, ttl: 20 * time.Minute},
		{name: "more calls, for as many more requests", given: func(r *Rule) {
			tried(r)
			r.Advice.Measured.CallsPerHour *= 2
			r.Advice.Measured.Requests *= 2
		}, state: Stepping, ttl: 20 * time.Minute},
		{name: "many old answers", given: func(r *Rule) { tried(r); r.Advice.Measured.OldShare = 0.3 }, state: Reverting, ttl: 5 * time.Minute, next: 24 * time.Hour, why: "30 % of the answers were old"},
		{name: "more old answers, by chance", given: func(r *Rule) { tried(r); r.Advice.Measured.OldShare = 0.04 }, state: Stepping, ttl: 20 * time.Minute},
		{name: "no more old answers than with the shortest interval that is likely", given: func(r *Rule) {
			tried(r).OldAtMost = 0.2
			r.Advice.Measured.OldShare = 0.29
		}, state: Stepping, ttl: 20 * time.Minute},
		{name: "nor under a rule that is not on trial", given: func(r *Rule) {
			r.Advice.Change.Low = 30 * time.Minute
			r.Advice.Measured.OldShare = 0.15
		}, state: Content, why: "not sure enough"},
		{name: "old answers of which nothing is known", given: func(r *Rule) { tried(r); r.Advice.Measured.OldShare, r.Advice.Measured.OldKnown = 1, false }, state: Stepping, ttl: 20 * time.Minute},
		{name: "the third in a row", given: func(r *Rule) { tried(r).Reverts = 2; r.Advice.Measured.OldShare = 0.3 }, state: Reverting, ttl: 5 * time.Minute, next: 96 * time.Hour},
		{name: "the hundredth", given: func(r *Rule) { tried(r).Reverts = 99; r.Advice.Measured.OldShare = 0.3 }, state: Reverting, ttl: 5 * time.Minute, next: longestPause},
		{name: "long after a step it is not its doing", given: func(r *Rule) {
			r.Advice.Measured.OldShare = 0.3
			tried(r).At = noon.Add(-trialTime)
		}, state: Doubtful, why: "do not hold for the present rule: 30 %"},
		{name: "without a step, there is nothing to revert", given: func(r *Rule) { r.Advice.Measured.CallsPerHour *= 2 }, state: Doubtful, why: "calls an hour"},
	}
}

// leftAlone: what is left alone.
func leftAlone() []situation {
	return []situation{
		{name: "after a step back", given: func(r *Rule) { tried(r); r.Trial.Reverted, r.Trial.Until = noon, noon.Add(time.Hour) }, state: Paused, next: time.Hour, why: "reverted"},
		{name: "after the pause", given: func(r *Rule) { tried(r); r.Trial.Reverted, r.Trial.Until = noon, noon }, state: Stepping, ttl: 20 * time.Minute},
		{name: "changed by hand", given: func(r *Rule) { r.ByHand = noon.Add(-time.Hour) }, state: ByHand, next: 23 * time.Hour, why: "An operator"},
		{name: "changed by hand, for longer", given: func(r *Rule) { r.ByHand, r.Until = noon.Add(-time.Hour), noon.Add(99*time.Hour) }, state: ByHand, next: 99 * time.Hour},
		{name: "changed by hand long ago", given: func(r *Rule) { r.ByHand = noon.Add(-handsOff) }, state: Stepping, ttl: 20 * time.Minute},
		{name: "beyond the bounds", given: func(r *Rule) { r.Max = 5 * time.Minute }, state: ByHand, why: "not between 1m and 5m"},
		{name: "another instance has stepped, and that is not in force here yet", given: func(r *Rule) { tried(r).To = 20 * time.Minute }, state: Observing},
	}
}

func TestDecide(t *testing.T) {
	for _, row := range slices.Concat(steps(), sureness(), outcomes(), failures(), leftAlone()) {
		t.Run(row.name, func(t *testing.T) {
			r := known()
			row.given(r)
			d := Decide(r, noon)
			next := time.Duration(0)
			if !d.Next.IsZero() {
				next = d.Next.Sub(noon)
			}
			if row.state == Observing || row.state == Trying {
				next = next.Round(time.Minute)
				if !d.Next.IsZero() && d.Next.Before(noon) {
					t.Errorf("possible %v ago", noon.Sub(d.Next))
				}
			}
			if d.State != row.state || d.TTL != row.ttl || !strings.Contains(d.Why.EN, row.why) || d.Why.ZH == "" {
				t.Errorf("%+v", d)
			}
			if next != row.next {
				t.Errorf("possible in %v, want %v", next, row.next)
			}
			if row.state == Stepping && (d.Predicted.TTL != row.ttl || d.Predicted.Grace != r.Policy.Grace || d.Predicted.CallsPerHour == 0) {
				t.Errorf("predicted %+v", d.Predicted)
			}
		})
	}
}

// TestStepsArriveAtTheBounds: from wherever it begins, in steps that each are within the
// bounds and change the TTL by a factor of two at most.
func TestStepsArriveAtTheBounds(t *testing.T) {
	for _, way := range []struct{ from, to, min, max time.Duration }{
		{time.Second, 7 * 24 * time.Hour, time.Second, 7 * 24 * time.Hour},
		{7 * 24 * time.Hour, time.Second, time.Second, 7 * 24 * time.Hour},
		{90 * time.Second, 3 * time.Hour, 77 * time.Second, 101 * time.Minute},
	} {
		r := known()
		r.Policy.TTL, r.Min, r.Max = way.from, way.min, way.max
		recommend(r, way.to)
		steps := 0
		for d := r.step(); d.State == Stepping; d = r.step() {
			factor := d.TTL.Seconds() / r.Policy.TTL.Seconds()
			if factor > longestStep*1.001 || factor < 1/longestStep/1.001 || d.TTL < way.min || d.TTL > way.max || steps > 30 {
				t.Fatalf("%v: from %v to %v", way, r.Policy.TTL, d.TTL)
			}
			r.Policy.TTL = d.TTL
			steps++
		}
		want := min(max(way.to, way.min), way.max)
		if ratio := r.Policy.TTL.Seconds() / want.Seconds(); steps < 5 || ratio > smallestStep || ratio < 1/smallestStep {
			t.Errorf("%v: %v after %d steps, want %v", way, r.Policy.TTL, steps, want)
		}
	}
}
