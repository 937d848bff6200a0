package whatif

import (
	"math/rand/v2"
	"time"

	"sundry/cache"
)

// entry is what one trial has cached for one key, and the flight that fills it.
// Times are in Unix nanoseconds. The zero value is a key that was never asked for.
type entry struct {
	have  lifetime
	next  lifetime // of what the flight will store
	lands int64    // when the flight ends; 0: none is under way
	// modified is when the content last changed, by the loads so far. Only
	// timetables ask for it.
	modified int64
	// negative and nextNegative are about what is there and what will be.
	negative, nextNegative bool
	waiters                bool // some wait for the flight
}

// lifetime is when an entry was created, 0 if there is none, and when it stops being
// fresh.
type lifetime struct{ created, deadline int64 }

// event is a request, with what all trials need of it.
type event struct {
	*Request
	now    int64
	weight uint64
	counts bool
}

// trial is a rule with what it does.
type trial struct {
	policy  *cache.Policy
	content content
	random  *rand.Rand
	meta    cache.Meta // of the entry that is looked at
	ages    ages

	requests, hits, fallbacks, calls uint64
	older                            float64
}

func newTrial(p *cache.Policy, changes Changes, seed uint64) trial {
	if changes == (Changes{}) && p.Until != nil {
		changes = Changes{timetable: p.Until}
	}
	return trial{policy: p, content: content{Changes: changes}, random: rand.New(rand.NewPCG(seed, 0))}
}

// request answers a request as cache.Space does.
func (t *trial) request(e *entry, ev *event) {
	if ev.counts {
		t.requests += ev.weight
	}
	if !t.policy.Stores() {
		t.bypass(ev)
		return
	}
	for e.lands != 0 && e.lands <= ev.now {
		t.land(e, ev)
	}
	switch t.state(e, ev.now) {
	case cache.Fresh:
		t.hit(e, ev)
	case cache.Eager, cache.Grace:
		t.hit(e, ev)
		t.refresh(e, ev)
	case cache.Stale:
		t.waitOrFallBack(e, ev)
	default:
		t.wait(e, ev)
	}
}

// state is that of what is there.
func (t *trial) state(e *entry, now int64) cache.State {
	if e.have.created == 0 {
		return cache.Absent
	}
	t.meta.Created, t.meta.Negative = time.Unix(0, e.have.created), e.negative
	state, _ := t.policy.StateBy(time.Unix(0, e.have.deadline), &t.meta, time.Unix(0, now))
	return state
}

// bypass calls for every request.
func (t *trial) bypass(ev *event) {
	if ev.counts {
		t.calls += ev.weight
	}
	t.answered(ev.now, ev.now+int64(ev.Latency), ev)
}

func (t *trial) hit(e *entry, ev *event) {
	if ev.counts {
		t.hits += ev.weight
	}
	t.answered(e.have.created, ev.now, ev)
}

// wait is for the flight, which is started unless one is under way.
func (t *trial) wait(e *entry, ev *event) {
	t.refresh(e, ev)
	e.waiters = true
	t.answered(e.next.created, e.lands, ev)
}

// waitOrFallBack waits for the soft timeout, then takes the stale copy.
func (t *trial) waitOrFallBack(e *entry, ev *event) {
	t.refresh(e, ev)
	patience := ev.now + int64(t.policy.SoftTimeout)
	if e.lands <= patience {
		t.wait(e, ev)
		return
	}
	if ev.counts {
		t.fallbacks += ev.weight
	}
	t.answered(e.have.created, patience, ev)
}

// refresh starts the key's flight, unless one is under way.
func (t *trial) refresh(e *entry, ev *event) {
	if e.lands == 0 {
		t.begin(e, ev, ev.now)
	}
}

// begin starts a flight. All that it will store is known by then, because content is
// as old as the load's beginning.
func (t *trial) begin(e *entry, ev *event, now int64) {
	if ev.counts {
		t.calls++
	}
	created := now - now%int64(time.Millisecond) // as entries have it
	if e.modified == 0 || t.content.changed(t.random, e.next.created, created) {
		e.modified = created
	}
	m := &cache.Meta{
		Source: ev.Source, Created: time.Unix(0, created), Modified: time.Unix(0, e.modified),
		Negative: ev.Negative, Spread: uint8(t.random.Uint32()),
	}
	e.next, e.nextNegative = lifetime{created, t.policy.Deadline(m).UnixNano()}, ev.Negative
	e.lands = now + max(1, int64(t.latency(ev)))
	e.waiters = false
}

func (t *trial) latency(ev *event) time.Duration {
	if t.policy.FillTimeout > 0 {
		return min(ev.Latency, t.policy.FillTimeout)
	}
	return ev.Latency
}

// land stores what a flight has loaded. Waiters that find it past its freshness
// already start another one.
func (t *trial) land(e *entry, ev *event) {
	at := e.lands
	e.lands = 0
	if !e.nextNegative || t.policy.Negative > 0 {
		e.have, e.negative = e.next, e.nextNegative
	}
	if e.waiters && t.state(e, at) == cache.Grace {
		t.begin(e, ev, at)
	}
}

// answered counts answers that were loaded at one time and served at another.
func (t *trial) answered(loaded, served int64, ev *event) {
	if !ev.counts {
		return
	}
	t.ages.add(time.Duration(max(0, served-loaded)), ev.weight)
	if older := t.content.older(loaded, served); older > 0 {
		t.older += older * float64(ev.weight)
	}
}

func (t *trial) outcome(span time.Duration) Outcome {
	return Outcome{
		Rule: t.policy, Requests: t.requests, Hits: t.hits, Fallbacks: t.fallbacks, Calls: t.calls,
		CallsPerHour: float64(t.calls) / max(span, time.Second).Hours(),
		Older:        share(t.older, t.requests), OlderKnown: t.content.Known(),
		MeanAge: t.ages.mean(), P99Age: t.ages.quantile(0.99),
	}
}
