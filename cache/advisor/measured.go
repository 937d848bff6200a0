package advisor

import (
	"time"

	"sundry/cache"
)

// Measured is what really happened under a rule.
type Measured struct {
	// Since the rule took effect, or since this is measured.
	Since      time.Time
	TTL, Grace time.Duration
	// CallsPerHour are the loads from upstreams, failed and negative ones included.
	CallsPerHour float64
	// HitRatio is the share of requests that did not have to wait for a load.
	HitRatio float64
	// OldShare is the share of answers whose content had changed since they were
	// loaded, estimated from which refreshes found a change; meaningless unless
	// OldKnown.
	OldShare float64
	OldKnown bool
	// Requests is how many there were, estimated from a sample.
	Requests float64
}

// tally counts what happens under a rule. The zero value is before any rule.
type tally struct {
	rule       string // as ruleOf has it; "": none is in force
	ttl, grace time.Duration
	since      time.Time
	// seen means that the rule took effect then, before the eyes of this instance.
	seen bool
	// requests, and how many of them waited; calls to upstreams.
	requests, waited, calls float64
	predicted               *Outcome // when the rule took effect; nil: too little was known
	before                  *Measured
}

// ruleOf tells apart what is to be measured apart.
func ruleOf(p *cache.Policy) string {
	rule := p.TTL.String() + " " + p.Grace.String()
	if p.Until != nil {
		rule += " " + p.Poll.String() + " " + p.Until.String()
	}
	return rule[:min(len(rule), maxName)]
}

// nothing reports whether there is nothing to remember.
func (t *tally) nothing() bool { return t.rule == "" || t.requests == 0 && t.calls == 0 }

// measured is what happened up to now; old is the share of old answers, if it is known.
func (t *tally) measured(now time.Time, old float64, known bool) *Measured {
	m := &Measured{Since: t.since, TTL: t.ttl, Grace: t.grace, OldShare: old, OldKnown: known, Requests: t.requests}
	if hours := now.Sub(t.since).Hours(); hours > 0 {
		m.CallsPerHour = t.calls / hours
	}
	if t.requests > 0 {
		m.HitRatio = max(0, 1-t.waited/t.requests)
	}
	return m
}

// sameTime is by how much instances may learn of a rule at different times.
const sameTime = time.Minute

// add adds what another instance, or one before, has counted under the same rule.
func (t *tally) add(o *tally) {
	if o.rule != t.rule || t.seen && o.since.Before(t.since.Add(-sameTime)) {
		return // that rule was in force before, too
	}
	if o.since.Before(t.since) {
		t.since, t.seen = o.since, o.seen
	}
	t.requests += o.requests
	t.waited += o.waited
	t.calls += o.calls
	if t.predicted == nil {
		t.predicted = o.predicted
	}
	if t.before == nil {
		t.before = o.before
	}
}

// upTo is as if all had gone on until now as it did until at.
func (t *tally) upTo(now, at time.Time) *tally {
	out := *t
	if counted := at.Sub(t.since); counted > 0 && now.After(at) {
		factor := float64(now.Sub(t.since)) / float64(counted)
		out.requests, out.waited, out.calls = t.requests*factor, t.waited*factor, t.calls*factor
	}
	return &out
}

// InForce tells which rules are in force from now on. What happens from then on is
// measured for each space whose rule is another one than before. What was observed of a
// space whose Version is another one no longer counts, nor does that of spaces that are not
// among the rules.
func (a *Advisor) InForce(rules []Question) {
	ruled := map[string]bool{}
	for i := range rules {
		q := &rules[i]
		ruled[q.Space] = true
		s := a.space(q.Space)
		if s == nil {
			continue
		}
		s.ofVersion(versionOf(q.Version))
		if !s.ruledBy(q.Policy) {
			a.change(s, q)
		}
	}
	a.forget(ruled)
}

func (s *space) ruledBy(p *cache.Policy) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tally.rule == ruleOf(p)
}

// change ends what is measured under the rule before, and begins anew.
func (a *Advisor) change(s *space, q *Question) {
	advice := a.Advise(q)
	s.mu.Lock()
	defer s.mu.Unlock()
	next := tally{rule: ruleOf(q.Policy), ttl: q.Policy.TTL, grace: q.Policy.Grace, since: q.Now.Truncate(time.Millisecond), seen: s.tally.rule != "", before: s.tally.before}
	if sum := s.sum(q.Now); !sum.nothing() {
		old, known := s.oldShare(q.Now)
		next.before = sum.measured(q.Now, old, known)
	}
	if advice.known(q.Policy) {
		next.predicted = &advice.Present
	}
	policy := *q.Policy // without the catalog around it
	s.tally, s.policy = next, &policy
}

// sum is what all instances together have counted under the rule in force. The caller
// holds mu.
func (s *space) sum(now time.Time) *tally {
	sum := s.tally
	if s.elsewhere != nil && sum.rule != "" {
		for _, o := range s.elsewhere.tallies {
			sum.add(o.tally.upTo(now, o.at))
		}
	}
	return &sum
}

// oldShare estimates the share of old answers since the rule in force took effect: an
// answer is served until it is due, and where the refresh found a change, it was old from a
// moment on that the way in which the content changes makes likely. Nothing is known under
// timetables, nor where no refresh was seen. The caller holds mu.
func (s *space) oldShare(now time.Time) (share float64, known bool) {
	if s.policy == nil || s.policy.Until != nil || s.estimate == nil {
		return 0, false
	}
	p := s.predictionFrom(s.estimate, time.UTC, now)
	l, rateOf, began := p.meanLife(s.policy), s.rates(now).byKey(), s.sum(now).since.UnixMilli()
	old, all := 0.0, 0.0
	for i := range s.estimate.list {
		o := &s.estimate.list[i]
		if o.to <= began {
			continue
		}
		each, rate := o.seconds()/float64(o.looks), rateOf(o.key)
		served := min(each, l.due)
		all += float64(o.looks) * (1 + rate*served)
		if o.changed {
			old += rate * p.oldSeconds(served, each)
			if each-l.due < l.grace {
				old++
			}
		}
	}
	if all == 0 {
		return 0, false
	}
	return min(1, old/all), true
}

// meanLife is that of entries under the policy, in the mean of their jitter.
func (p *Prediction) meanLife(policy *cache.Policy) life {
	var mean life
	for _, l := range p.cyclesOf(policy) {
		mean.due += l.due / spreads
		mean.grace += l.grace / spreads
	}
	return mean
}

// oldSeconds is for how long content that is served for some seconds, and is known to
// have changed within as many or more, is old in the mean.
func (p *Prediction) oldSeconds(served, within float64) float64 {
	if changed := p.changed(within); changed > 1e-9 {
		return p.changedUntil(served) / changed
	}
	return served * served / (2 * within)
}
