package advisor

import (
	"math"
	"math/rand/v2"
	"time"

	"sundry/cache"
)

// Outcome is what a rule leads to.
type Outcome struct {
	TTL, Grace time.Duration
	// CallsPerHour are the fills from upstreams.
	CallsPerHour float64
	// HitRatio is the share of requests that do not wait for a fill.
	HitRatio float64
	// OldShare is the share of answers whose content has changed since they were
	// loaded.
	OldShare float64
	// QuotaUsed is the share of the source's quota; 0 without one.
	QuotaUsed float64
}

// Prediction is what outcomes are predicted from.
type Prediction struct {
	// Loads are the requests, of which those for a key come at random.
	Loads []Load
	// ChangeRate is the changes per second of a key's content. Period is that of a
	// periodic content, with Phase as in Change; 0: it changes at random.
	ChangeRate    float64
	Period, Phase time.Duration
	Times         Times          // of day, in the place of Period and Phase; zero: none
	Zone          *time.Location // nil: UTC
	// Source of the answers, where the policy tells them apart.
	Source string
	// Quota is the calls per hour that the source allows; 0: no limit.
	Quota float64
}

// spreads is how many jitters are averaged over.
const spreads = 8

// Of predicts the outcome of a policy. Its deadlines are those of the policy itself: its
// code is asked, not copied. A fill takes no time and does not fail.
func (p *Prediction) Of(policy *cache.Policy) Outcome {
	out := Outcome{TTL: policy.TTL, Grace: policy.Grace}
	if !policy.Stores() {
		out.CallsPerHour = 3600 * sumOf(p.Loads)
		out.quota(p.Quota)
		return out
	}
	var sum cycle
	if policy.Until != nil {
		sum = p.byCalendar(policy)
	} else {
		cycles := p.cyclesOf(policy)
		for _, l := range p.Loads {
			sum.add(p.ofKey(cycles, l.Rate), l.Keys)
		}
	}
	all := sumOf(p.Loads)
	if out.CallsPerHour = 3600 * sum.calls; all > 0 {
		out.HitRatio, out.OldShare = 1-sum.waits/all, sum.old/all
	}
	out.quota(p.Quota)
	return out
}

func (o *Outcome) quota(perHour float64) {
	if perHour > 0 {
		o.QuotaUsed = o.CallsPerHour / perHour
	}
}

// cycle is what happens in a second, or from one fill of a key to the next.
type cycle struct{ calls, waits, old, length float64 }

func (c *cycle) add(o cycle, times float64) {
	c.calls += times * o.calls
	c.waits += times * o.waits
	c.old += times * o.old
	c.length += times * o.length
}

// life is that of an entry: the first request after due seconds refreshes it, behind an
// answer if it comes within grace seconds of that.
type life struct{ due, grace float64 }

// cyclesOf are the lives of entries under the policy, by their jitter.
func (p *Prediction) cyclesOf(policy *cache.Policy) [spreads]life {
	var all [spreads]life
	at := time.Unix(1_000_000_000, 0)
	for i := range all {
		m := cache.Meta{Source: p.Source, Created: at, Modified: at, Spread: uint8((2*i + 1) * 128 / spreads)}
		_, left := policy.State(&m, at)
		due := left.Seconds() * (1 - policy.Eager)
		all[i] = life{due, left.Seconds() - due + policy.Grace.Seconds()}
	}
	return all
}

// ofKey is what happens in a second of a key with requests at that rate: an entry is
// refreshed by the first request after it is due, so a cycle lasts until then, and one
// for a request more.
func (p *Prediction) ofKey(lives [spreads]life, rate float64) cycle {
	if rate <= 0 {
		return cycle{}
	}
	var c cycle
	for _, l := range lives {
		c.length += (l.due + 1/rate) / spreads
		c.waits += math.Exp(-rate*l.grace) / spreads
		c.old += (rate*p.changedUntil(l.due) + p.oldAtRefresh(l, rate)) / spreads
	}
	return cycle{calls: 1 / c.length, waits: c.waits / c.length, old: c.old / c.length}
}

// changed is the probability that the content changes within an age.
func (p *Prediction) changed(age float64) float64 {
	if p.Period > 0 {
		rest := 0.0
		p.gaps(func(gap, share float64) { rest += max(0, gap-age) * share / gap })
		return 1 - rest
	}
	return -math.Expm1(-p.ChangeRate * age)
}

// gaps calls yield with the seconds from each publication to the next one, and their
// share of all.
func (p *Prediction) gaps(yield func(gap, share float64)) {
	if p.Times.n == 0 {
		yield(p.Period.Seconds(), 1)
		return
	}
	before := p.Times.at[p.Times.n-1] - dayLength
	for _, at := range p.Times.at[:p.Times.n] {
		gap := (at - before).Seconds()
		yield(gap, gap/dayLength.Seconds())
		before = at
	}
}

// changedUntil is the integral of changed over the ages up to that one.
func (p *Prediction) changedUntil(age float64) float64 {
	if p.Period > 0 {
		sum := 0.0
		p.gaps(func(gap, share float64) {
			until := min(age, gap)
			sum += share * (age - until + until*until/(2*gap))
		})
		return sum
	}
	if p.ChangeRate*age < 1e-6 {
		return p.ChangeRate * age * age / 2
	}
	return age + math.Expm1(-p.ChangeRate*age)/p.ChangeRate
}

// oldAtRefresh is the probability that the request that starts the refresh gets an old
// answer: it comes within grace, and the content has changed.
func (p *Prediction) oldAtRefresh(l life, rate float64) float64 {
	const parts = 8
	within := -math.Expm1(-rate * l.grace)
	sum := 0.0
	for i := range parts {
		v := (float64(i) + 0.5) / parts * within
		sum += p.changed(l.due - math.Log1p(-v)/rate)
	}
	return sum / parts * within
}

const (
	// simulated is the time over which a timetable is tried out, and simulatedFills
	// bounds the fills of one key.
	simulated      = 14 * 24 * time.Hour
	simulatedFills = 2000
)

// byCalendar is what happens in a second under a policy with a timetable. It is tried
// out, from fill to fill, with chance that is the same each time.
func (p *Prediction) byCalendar(policy *cache.Policy) cycle {
	chance := rand.New(rand.NewPCG(1, 2))
	var sum cycle
	for _, l := range p.Loads {
		if l.Rate <= 0 {
			continue
		}
		one := p.tryOut(policy, l.Rate, chance)
		sum.add(cycle{calls: one.calls / one.length, waits: one.waits / one.length, old: one.old / one.length}, l.Keys)
	}
	return sum
}

// tryOut follows one key from fill to fill.
func (p *Prediction) tryOut(policy *cache.Policy, rate float64, chance *rand.Rand) cycle {
	begin := time.Date(2001, 1, 1, 0, 0, 0, 0, p.zone())
	changes := p.newChanges(begin, chance)
	at := begin.Add(time.Duration(chance.Float64() * float64(24*time.Hour)))
	first, c := at, cycle{}
	for c.calls < simulatedFills && at.Sub(begin) < simulated {
		m := cache.Meta{Source: p.Source, Created: at, Modified: changes.last(at), Spread: uint8(chance.Uint32())}
		_, left := policy.State(&m, at)
		if left <= 0 {
			left = time.Millisecond
		}
		next := at.Add(left + time.Duration(chance.ExpFloat64()/rate*1e9))
		old := changes.after(at)
		if due := at.Add(left); old.Before(due) {
			c.old += rate * due.Sub(old).Seconds()
		}
		c.calls++
		if next.Sub(at)-left >= policy.Grace {
			c.waits++
		} else if !old.After(next) {
			c.old++
		}
		at = next
	}
	c.length = at.Sub(first).Seconds()
	return c
}

func (p *Prediction) zone() *time.Location {
	if p.Zone == nil {
		return time.UTC
	}
	return p.Zone
}

// changes are the instants at which a content changes, in order.
type changes struct {
	before, next time.Time
	draw         func(after time.Time) time.Time
}

func (p *Prediction) newChanges(begin time.Time, chance *rand.Rand) *changes {
	c := &changes{before: begin.Add(-24 * time.Hour)}
	switch {
	case p.Period > 0:
		c.draw = func(after time.Time) time.Time { return p.publication(after) }
	case p.ChangeRate > 0:
		c.draw = func(after time.Time) time.Time {
			return after.Add(time.Duration(min(1e9, chance.ExpFloat64()/p.ChangeRate) * 1e9))
		}
	default:
		c.draw = func(after time.Time) time.Time { return after.AddDate(100, 0, 0) }
	}
	c.next = c.draw(c.before)
	return c
}

// publication is the first one after an instant.
func (p *Prediction) publication(after time.Time) time.Time {
	if p.Times.n == 0 {
		return p.next(after, p.Period, p.Phase)
	}
	first := after.Add(2 * dayLength)
	for _, at := range p.Times.at[:p.Times.n] {
		if next := p.next(after, dayLength, at); next.Before(first) {
			first = next
		}
	}
	return first
}

// next is the first instant of a phase after another one.
func (p *Prediction) next(after time.Time, period, phase time.Duration) time.Time {
	local := localSeconds(after.UnixMilli(), p.zone())
	k := math.Floor((local-phase.Seconds())/period.Seconds()) + 1
	return after.Add(time.Duration((phase.Seconds() + k*period.Seconds() - local) * 1e9))
}

func (c *changes) advance(to time.Time) {
	for !c.next.After(to) {
		c.before, c.next = c.next, c.draw(c.next)
	}
}

// last is the last change at or before an instant, which must not be before earlier ones.
func (c *changes) last(at time.Time) time.Time {
	c.advance(at)
	return c.before
}

// after is the first change after an instant.
func (c *changes) after(at time.Time) time.Time {
	c.advance(at)
	return c.next
}
