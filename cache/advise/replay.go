package advise

import (
	"cmp"
	"math"
	"slices"
	"time"

	"sundry/cache"
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

// Past is what was seen, ready to be replayed under any rule.
type Past struct {
	courses  []*course
	from, to int64
	masses   int     // spans that are not unchanged
	looked   float64 // milliseconds of the spans of which is known what was found
	evidence Evidence
	ofKeys   float64 // one of how many keys was seen
}

// Past compiles what was seen since contents last began to change at another rate.
func (s *Seen) Past() *Past {
	slices.SortStableFunc(s.events, func(a, b event) int { return cmp.Compare(a.at, b.at) }) // clocks of several instances differ
	past := pastOf(s.events)
	if d := switched(past.days()); d > 0 {
		since := past.from + int64(d)*day
		i, _ := slices.BinarySearchFunc(s.events, since, func(e event, at int64) int { return cmp.Compare(e.time(), at) })
		past = pastOf(s.events[i:])
	}
	past.ofKeys = float64(uint64(1) << s.halved)
	return past
}

func pastOf(events []event) *Past {
	past := &Past{courses: coursesOf(events), evidence: evidenceOf(events), ofKeys: 1}
	if n := len(events); n > 0 {
		past.from, past.to = events[0].time(), events[n-1].time()+1
	}
	for _, c := range past.courses {
		for i := range c.spans {
			s := &c.spans[i]
			if s.found != Unchanged {
				past.masses++
				s.mass = past.masses
			}
			if s.found != First {
				past.looked += float64(s.to - s.from)
			}
		}
	}
	return past
}

// Rule replays a rule. Memory has room for everything: nothing is evicted.
func (past *Past) Rule(policy *cache.Policy) Rule {
	r := &replay{past: past, policy: policy, blame: blame{masses: make([]float64, past.masses+1)}, days: make([]float64, (past.to-past.from)/day+1)}
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
	policy *cache.Policy
	meta   cache.Meta
	blame  blame
	counts bool

	created            int64 // of the copy; 0: there is none
	deadline           time.Time
	random             uint64
	requests, old, age float64
	// atMost is old where contents that always changed do so without a pause.
	atMost float64
	days   []float64 // calls by day
}

// run replays a key twice: what is in the cache at the end is what was in it at the
// beginning.
func (r *replay) run(c *course) {
	r.created, r.counts = 0, false
	r.all(c)
	if r.created != 0 {
		r.store(r.created - (r.past.to - r.past.from))
	}
	r.counts = true
	r.all(c)
}

func (r *replay) all(c *course) {
	before := r.past.from
	for _, e := range c.requests {
		if e.kind() == sample {
			r.spread(c, e, max(before, e.time()-longestSpread))
		} else {
			r.request(c, e.time(), e.requests())
		}
		before = e.time()
	}
}

// longestSpread bounds the time over which the requests of a sample are spread.
const longestSpread = day

// mostSteps bounds the work for one event.
const mostSteps = 64

// spread replays the requests that one stands for: evenly over the time since the one
// before, in steps if there are many.
func (r *replay) spread(c *course, e event, before int64) {
	span := e.time() - before
	steps := min(int64(e.n), max(mostSteps, min(4096, 4*span/max(1, r.policy.TTL.Milliseconds()))))
	for i := range steps {
		r.request(c, before+span*(i+1)/steps, e.requests()/float64(steps))
	}
}

// request answers requests as cache.Space does, as if a fill took no time.
func (r *replay) request(c *course, at int64, weight float64) {
	switch r.state(at) {
	case cache.Fresh:
		r.serve(c, at, weight)
	case cache.Eager, cache.Grace:
		r.serve(c, at, 1) // and the others what the refresh brings
		r.load(at)
		r.serve(c, at, weight-1)
	default:
		r.load(at)
		r.serve(c, at, weight)
	}
}

func (r *replay) state(at int64) cache.State {
	if r.created == 0 || !r.policy.Stores() {
		return cache.Absent
	}
	r.meta.Created = time.UnixMilli(r.created)
	state, _ := r.policy.StateBy(r.deadline, &r.meta, time.UnixMilli(at))
	return state
}

func (r *replay) serve(c *course, at int64, weight float64) {
	if !r.counts || weight <= 0 {
		return
	}
	r.requests += weight
	if age := at - r.created; age > 0 {
		r.age += weight * float64(age)
		old := c.old(r.created, at, weight, &r.blame)
		r.old += weight * old
		if c.always {
			old = 1
		}
		r.atMost += weight * old
	}
}

func (r *replay) load(at int64) {
	if r.counts {
		r.days[(at-r.past.from)/day]++
	}
	r.store(at)
}

func (r *replay) store(at int64) {
	r.random = r.random*6364136223846793005 + 1442695040888963407
	r.created, r.meta = at, cache.Meta{Created: time.UnixMilli(at), Spread: uint8(r.random >> 56)}
	r.deadline = r.policy.Deadline(&r.meta)
}

// older fills in the old share and its band. Where no change was seen, the band ends where
// one that comes as often as it can have stayed unseen would lead.
func (r *replay) older(out *Rule) {
	if r.requests == 0 {
		return
	}
	out.Older = r.old / r.requests
	out.OlderLow, out.OlderHigh = r.blame.band(r.requests)
	out.OlderHigh = max(out.OlderHigh, r.atMost/r.requests)
	out.AtMost = r.atMost > r.old+r.requests/100
	if out.OlderHigh == 0 && r.past.looked > 0 {
		out.OlderHigh = -math.Expm1(-ruleOfThree / r.past.looked * r.age / r.requests)
	}
}

// calls are those an hour: their scatter is that from day to day, at least that of
// independent ones.
func (r *replay) calls() (mean, low, high float64) {
	sum := 0.0
	for _, n := range r.days {
		sum += n
	}
	hours := float64(r.past.to-r.past.from) / (day / 24) / r.past.ofKeys
	if hours == 0 {
		return 0, 0, 0
	}
	scatter := math.Sqrt(sum)
	if whole := r.days[:len(r.days)-1]; len(whole) > 1 {
		average, squares := 0.0, 0.0
		for _, n := range whole {
			average += n / float64(len(whole))
		}
		for _, n := range whole {
			squares += (n - average) * (n - average)
		}
		scatter = max(scatter, math.Sqrt(squares/float64(len(whole)-1)*float64(len(whole))))
	}
	return sum / hours, max(0, sum-2*scatter) / hours, (sum + 2*scatter) / hours
}
