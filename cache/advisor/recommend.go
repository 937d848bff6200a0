package advisor

import (
	"cmp"
	"math"
	"slices"
	"time"

	"sundry/cache"
)

// Verdict is what an operator should do.
type Verdict string

// The verdicts.
const (
	// Wait: too little is known.
	Wait Verdict = "wait"
	// Keep: there is nothing to gain.
	Keep Verdict = "keep"
	// Set: set the recommended TTL.
	Set Verdict = "set"
	// Schedule: declare when the content is published (until).
	Schedule Verdict = "schedule"
)

// Advice is what to do about a rule, and why.
type Advice struct {
	Space   string
	Change  Change
	Sources []SourceChange // nil: they do not differ
	// RequestsPerSecond of all keys, and how many different Keys there are in a day.
	RequestsPerSecond, Keys float64
	Verdict                 Verdict
	// Present is the outcome of the rule in force, and Recommended that of the
	// recommended one; the same where there is nothing to gain or too little known.
	Present, Recommended Outcome
	// Until is the timetable to declare, as in "06:00 Asia/Shanghai"; "" for none.
	Until string
	// Measured is what has come of the rule in force, and Before of the one before it;
	// nil: there was none. Predicted is what had been predicted of the rule in force when
	// it took effect; nil: too little was known then.
	Measured, Before *Measured
	Predicted        *Outcome
	// Curve are the outcomes of TTLs from short to long; nil where too little is known.
	Curve  []Outcome
	Reason Reason
	// Prediction is what the outcomes were predicted from.
	Prediction Prediction
}

// Terms of a recommendation.
const (
	// minGain is by how much a rule must be better to be recommended.
	minGain = 0.15
	// fewCalls an hour are not worth saving, nor is littleOld worth avoiding.
	fewCalls  = 1.0
	littleOld = 0.02
	// quotaShare is the share of a quota that a recommended rule uses at most.
	quotaShare = 0.8
	// shortest and longest are the bounds of TTLs that are recommended, in intervals
	// of the change.
	shortest, longest = 1.0 / 50, 2.0
	// onTime is how near a publication must be to a time of the timetable.
	onTime = 30 * time.Minute
)

// ttls are those that are considered: values that people use.
func ttls() []time.Duration {
	const day = 24 * time.Hour
	return []time.Duration{
		5 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second, 30 * time.Second, 45 * time.Second,
		time.Minute, 90 * time.Second, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute, 5 * time.Minute, 7 * time.Minute,
		10 * time.Minute, 15 * time.Minute, 20 * time.Minute, 30 * time.Minute, 45 * time.Minute,
		time.Hour, 90 * time.Minute, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 6 * time.Hour, 8 * time.Hour, 12 * time.Hour, 18 * time.Hour,
		day, 36 * time.Hour, 2 * day, 3 * day, 5 * day, 7 * day, 10 * day, 14 * day, 21 * day, 30 * day,
	}
}

// decide fills in the verdict and what belongs to it.
func (a *Advice) decide(policy *cache.Policy) {
	a.Present = a.Prediction.Of(policy)
	a.Recommended, a.Verdict = a.Present, Wait
	if a.known(policy) {
		rate, _ := a.Change.rate()
		a.curve(policy, rate)
		a.Verdict = Keep
		if !a.schedule(policy) {
			a.setTTL(rate)
		}
	}
	a.Reason = a.reason()
}

// known reports whether enough is known to predict what policies lead to.
func (a *Advice) known(policy *cache.Policy) bool {
	rate, known := a.Change.rate()
	return policy.Stores() && known && rate > 0 && a.RequestsPerSecond > 0
}

// curve predicts the outcomes of TTLs in the place of the policy's own.
func (a *Advice) curve(policy *cache.Policy, rate float64) {
	for _, ttl := range ttls() {
		if share := ttl.Seconds() * rate; share < shortest/4 || share > longest*4 {
			continue
		}
		a.Curve = append(a.Curve, a.withTTL(policy, ttl))
	}
}

func (a *Advice) withTTL(policy *cache.Policy, ttl time.Duration) Outcome {
	p := *policy
	p.TTL = ttl
	return a.Prediction.Of(&p)
}

// schedule decides about a content that is published at known times of day. It returns false
// where a TTL is to be decided about.
func (a *Advice) schedule(policy *cache.Policy) bool {
	c := &a.Change
	if c.daily().n == 0 || c.Probable {
		return false
	}
	text := c.At() + " " + zoneName(a.Prediction.zone())
	until, err := cache.ParseCalendar(text)
	if err != nil {
		return false
	}
	if policy.Until != nil && timely(policy.Until, until) {
		return true
	}
	p := *policy
	p.Until, p.TTL, p.Poll = until, max(policy.TTL, 24*time.Hour), cmp.Or(policy.Poll, cache.DefaultPoll)
	better := a.Prediction.Of(&p)
	if a.gains(&better) {
		a.Verdict, a.Recommended, a.Until = Schedule, better, text
	}
	return true
}

// timely reports whether the timetable has the publications that were found.
func timely(table, found *cache.Calendar) bool {
	published := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	for end := published.Add(dayLength); published.Before(end); {
		published = found.Next(published)
		after := published.Sub(table.Last(published))
		before := table.Next(published).Sub(published)
		if min(after, before) > onTime {
			return false
		}
	}
	return true
}

// gains reports whether an outcome is so much better than the present one that a change
// is worth it: fewer calls or fewer old answers, and not many more of the others.
func (a *Advice) gains(o *Outcome) bool {
	saved, fresher := a.Present.CallsPerHour-o.CallsPerHour, a.Present.OldShare-o.OldShare
	return saved > max(fewCalls, minGain*a.Present.CallsPerHour) || fresher > max(littleOld, minGain*a.Present.OldShare)
}

// setTTL finds the knee: the TTL for which calls and old answers together are nearest to
// none, each as a share of its largest among the TTLs that are sensible. Of these, it is
// one that leaves something of the quota.
func (a *Advice) setTTL(rate float64) {
	var sensible, allowed []Outcome
	for _, o := range a.Curve {
		share := o.TTL.Seconds() * rate
		if share < shortest || share > longest {
			continue
		}
		if sensible = append(sensible, o); o.QuotaUsed <= quotaShare {
			allowed = append(allowed, o)
		}
	}
	if len(allowed) == 0 {
		return
	}
	most, oldest := sensible[0].CallsPerHour, sensible[len(sensible)-1].OldShare
	distance := func(o *Outcome) float64 {
		return math.Hypot(o.CallsPerHour/max(most, 1e-12), o.OldShare/max(oldest, 1e-12))
	}
	best := slices.MinFunc(allowed, func(x, y Outcome) int { return cmp.Compare(distance(&x), distance(&y)) })
	over := a.Present.QuotaUsed > quotaShare && best.QuotaUsed < a.Present.QuotaUsed
	if over || a.gains(&best) && distance(&a.Present) > (1+minGain)*distance(&best) {
		a.Verdict, a.Recommended = Set, best
	}
}
