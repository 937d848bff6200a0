package advise

import (
	"math"
	"time"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

// Rule is what a rule leads to.
type Rule struct {
	TTL time.Duration
	// Older is the share of answers whose content had changed, 0 to 1, and its band.
	Older, OlderLow, OlderHigh float64
	// Calls to upstreams an hour, and their band.
	Calls, CallsLow, CallsHigh float64
	// AtMost: of some keys every refresh found a change, so that nobody knows how often
	// they change; OlderHigh is an upper bound.
	AtMost bool
}

// Rule replays a rule. What was evicted or purged while it was watched, is so under any
// rule; more memory than that is not taken to be needed for a longer TTL.
func (past *Past) Rule(policy *policy.Policy) Rule {
	n := (past.to-past.from)/day + 1
	r := &replay{past: past, policy: policy, blame: blame{changes: past.changes, masses: make([]float64, len(past.changes))}, days: make([]float64, n), olds: make([]float64, n), asked: make([]float64, n)}
	for _, c := range past.courses {
		r.run(c)
	}
	out := Rule{TTL: policy.TTL}
	r.older(&out)
	out.Calls, out.CallsLow, out.CallsHigh = r.calls()
	return out
}

// ruleOfThree is how many changes 95 % of such times would have shown, where none was seen.
const ruleOfThree = 3

const day = 24 * 60 * 60 * 1000

// replay is a rule with what it does.
type replay struct {
	past   *Past
	policy *policy.Policy
	meta   entry.Meta
	blame  blame
	counts bool

	created  int64 // of the copy; 0: there is none
	deadline time.Time
	fresh    int64 // until then it is fresh, for certain
	span     int   // the first one that ends after that
	gone     int   // how often a copy was gone
	random   uint64

	requests, old, age float64
	// atMost is old where contents that always changed do so without a pause.
	atMost float64
	days   []float64 // calls by day
	olds   []float64 // old answers by day
	asked  []float64 // requests by day
}

// run replays a key. What is in the cache at the end is what was in it at the beginning:
// the last part tells, which is replayed first.
func (r *replay) run(c *course) {
	r.created, r.counts = 0, false
	first := max(0, len(c.requests)*7/8-256)
	r.all(c, first)
	created := r.created
	if r.created = 0; created != 0 {
		r.store(c, created-(r.past.to-r.past.from))
	}
	r.counts = true
	r.all(c, 0)
}

func (r *replay) all(c *course, first int) {
	r.span, r.gone = 0, 0
	before := r.past.from
	for i := first; i < len(c.requests); i++ {
		a := &c.requests[i]
		if a.others > 0 {
			r.others(c, before, a)
		}
		r.request(c, a.at, a.n)
		before = a.at
	}
}

// mostSteps bounds the work for the requests that one stands for.
const mostSteps = 64

// others replays those that came at random since the request before, many of them together.
func (r *replay) others(c *course, before int64, a *asked) {
	steps := min(int64(a.others), max(mostSteps, min(4096, 4*(a.at-before)/max(1, r.policy.TTL.Milliseconds()))))
	weight := float64(a.others) / float64(steps)
	for left := steps; left > 0; left-- {
		// The first of so many at random.
		before += int64(float64(a.at-before) * (1 - math.Pow(r.draw(), 1/float64(left))))
		r.request(c, before, weight)
	}
}

// request answers requests as cache.Space does, as if a fill took no time.
func (r *replay) request(c *course, at int64, weight float64) {
	for r.gone < len(c.gone) && c.gone[r.gone] <= at {
		r.created = 0
		r.gone++
	}
	switch r.state(at) {
	case policy.Fresh:
		r.serve(c, at, weight)
	case policy.Eager, policy.Grace:
		r.serve(c, at, min(1, weight)) // and the others what the refresh brings
		r.load(c, at)
		r.serve(c, at, weight-1)
	default:
		r.load(c, at)
		if r.counts {
			r.count(at, min(1, weight))
		}
		r.serve(c, at, weight-1)
	}
}

func (r *replay) state(at int64) policy.State {
	if r.created == 0 || !r.policy.Stores() {
		return policy.Absent
	}
	if at < r.fresh {
		return policy.Fresh
	}
	state, _ := r.policy.StateBy(r.deadline, &r.meta, time.UnixMilli(at))
	return state
}

func (r *replay) serve(c *course, at int64, weight float64) {
	if !r.counts || weight <= 0 {
		return
	}
	r.count(at, weight)
	if c.always {
		r.atMost += weight
	}
	age := at - r.created
	if age <= 0 { // it is one event with the one that loaded
		return
	}
	r.age += weight * float64(age)
	old := weight * c.old(r.span, r.created, at, weight, &r.blame)
	r.old += old
	r.olds[(at-r.past.from)/day] += old
	if !c.always {
		r.atMost += old
	}
}

func (r *replay) count(at int64, weight float64) {
	r.requests += weight
	r.asked[(at-r.past.from)/day] += weight
}

func (r *replay) load(c *course, at int64) {
	if r.counts {
		r.days[(at-r.past.from)/day]++
	}
	r.store(c, at)
}

func (r *replay) store(c *course, at int64) {
	r.created, r.meta = at, entry.Meta{Created: time.UnixMilli(at), Spread: uint8(r.draw() * 256)}
	r.deadline = r.policy.Deadline(&r.meta)
	life := r.deadline.Sub(r.meta.Created)
	r.fresh = at + (life - time.Duration(r.policy.Eager*float64(life))).Milliseconds()
	for r.span < len(c.spans) && c.spans[r.span].to <= at {
		r.span++
	}
}

// draw is a number from 0 to 1, the same ones in each replay.
func (r *replay) draw() float64 {
	r.random = r.random*6364136223846793005 + 1442695040888963407
	return float64(r.random>>11) / (1 << 53)
}

// older fills in the old share and its band. Where no change was seen, the band ends where
// one that comes as often as it can have stayed unseen would lead.
func (r *replay) older(out *Rule) {
	if r.requests == 0 {
		return
	}
	out.Older = r.old / r.requests
	out.OlderLow, out.OlderHigh = r.blame.band(r.requests, r.scatter())
	most := r.atMost
	if out.AtMost = most > r.old+r.requests/100; out.AtMost {
		most += 2 * math.Sqrt(most) // of requests' own chance
	}
	out.OlderHigh = math.Min(1, max(out.OlderHigh*r.blame.unseen(), most/r.requests))
	if out.OlderHigh == 0 && r.past.looked > 0 {
		out.OlderHigh = -math.Expm1(-ruleOfThree / r.past.looked * r.age / r.requests)
	}
}

// scatter is the variance of the old answers, by how much days, or some days together,
// differ from the share of all.
func (r *replay) scatter() float64 {
	most := 0.0
	for days := 1; len(r.olds)/days >= fewestBlocks; days *= 2 {
		var differ []float64
		for i := 0; i+days <= len(r.olds); i += days {
			sum := 0.0
			for j := range days {
				sum += r.olds[i+j] - r.old/r.requests*r.asked[i+j]
			}
			differ = append(differ, sum)
		}
		most = max(most, scatterOfSum(differ))
	}
	return most
}

// fewestBlocks tell how much they differ.
const fewestBlocks = 5

// calls are those an hour: their scatter is that from day to day, at least that of
// independent ones.
func (r *replay) calls() (mean, low, high float64) {
	sum := 0.0
	for _, n := range r.days {
		sum += n
	}
	hours := float64(r.past.to-r.past.from-r.past.lost) / (day / 24) / r.past.ofKeys
	if hours <= 0 {
		return 0, 0, 0
	}
	scatter := math.Sqrt(sum)
	if whole := r.days[:len(r.days)-1]; len(whole) > 1 {
		scatter = max(scatter, math.Sqrt(scatterOfSum(whole)))
	}
	return sum / hours, max(0, sum-2*scatter) / hours, (sum + 2*scatter) / hours
}
