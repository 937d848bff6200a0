package upstreams

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"sundry/upstreams/fields"
	"sundry/upstreams/host"
)

// Chain is sources in order, asked until one gives a definite answer.
type Chain struct {
	Sources []*Source
	// LeftOut are the sources whose secret is not set.
	LeftOut  []*Source
	Declared []*Source // both, in the order of the file
	// MayBeNegative: the chain may answer negatively, because the endpoint takes
	// input that can be at fault. Without such input, what a source does not have
	// is its own failure, and never the answer.
	MayBeNegative bool
	quotas        []*host.Quota // of Sources
	metrics       chainMetrics
	// The seconds since 1970 of the latest answers: of a last resort where others had failed, and of any other source
	// that is not aside.
	resorted, regular atomic.Int64
}

// NewChain makes a chain of compiled sources. It drops those that are nil, and
// leaves out those whose secret is not set. mayBeNegative says that the endpoint
// takes input that can be at fault: else the chain never answers negatively.
func NewChain(endpoint string, sources []*Source, mayBeNegative bool, env *Environment) *Chain {
	c := &Chain{MayBeNegative: mayBeNegative, metrics: env.Metrics.chain(endpoint)}
	for _, s := range sources {
		if s != nil {
			c.Declared = append(c.Declared, s)
		}
		switch {
		case s == nil:
		case s.Missing != "":
			c.LeftOut = append(c.LeftOut, s)
		default:
			c.Sources = append(c.Sources, s)
		}
	}
	c.quotas = quotasOf(c.Sources)
	return c
}

// SetDemands sets what the data of its sources must hold; nil: anything.
// The first own of them answer with something else.
func (c *Chain) SetDemands(d *fields.Demands, own int) {
	for _, s := range c.Declared[min(own, len(c.Declared)):] {
		s.Demands = d
	}
}

// Do asks the sources in order within ctx's deadline. The error is an *Error:
// a negative answer, or the failures combined. With hasCopy, a usable copy
// exists: last resorts are not asked, and the reserves of quotas are left to others. watch, when not nil, is called after
// each attempt.
func (c *Chain) Do(ctx context.Context, call *Call, hasCopy bool, watch func(AttemptReport)) (Answer, error) {
	p := pass{
		chain: c, ctx: ctx, call: call, hasCopy: hasCopy, watch: watch,
		remoteUntil: remoteDeadline(ctx), plan: c.plan(ctx, call, hasCopy),
	}
	return p.failover()
}

// pass is one pass through a chain.
type pass struct {
	chain       *Chain
	ctx         context.Context //nolint:containedctx // that of Do
	call        *Call
	hasCopy     bool
	watch       func(AttemptReport) // nil: nobody watches
	remoteUntil time.Time           // until when remote sources are asked; zero: until ctx ends
	plan        []planned
	cause       string // the reason of the last failure that gave one
}

// failover goes from source to source until one gives a definite answer.
func (p *pass) failover() (Answer, error) {
	c := p.chain
	var failures []failure
	for i := range p.plan {
		t := &p.plan[i]
		if after := t.source.After; after != "" && t.serves && len(failures) > 0 && !after.follows(p.combine(failures, len(failures))) {
			failures = append(failures, failure{t.source.notAsked(&Error{Kind: Skipped}, p.watch), t.source.Optional})
			continue
		}
		until := deadlineOf(p.ctx)
		if t.source.Remote() {
			until = allot(p.remoteUntil, p.plan[i:])
		}
		if ended(p.ctx, until) != nil {
			continue // no time is left for this one; a local source may follow
		}
		answer, err := t.ask(p.ctx, until, p)
		if err == nil {
			c.answered(failures, t.source)
			return answer, nil
		}
		failures = append(failures, failure{err, t.source.Optional})
		if typed, ok := errors.AsType[*Error](err); ok {
			p.cause = cmp.Or(typed.Reason, p.cause)
		}
		if p.isFinal(t.source, err) {
			return Answer{}, err
		}
	}
	return Answer{}, p.combine(failures, len(p.plan))
}

// answered counts a failover, or an answer of a last resort.
func (c *Chain) answered(failures []failure, s *Source) {
	if anyFailed(failures) {
		c.metrics.failovers.Inc()
	}
	if s.LastResort {
		c.metrics.lastResorts.Inc()
	}
	switch now := time.Now().Unix(); {
	case s.LastResort && anyFailed(failures):
		c.resorted.Store(now)
	case !s.LastResort && !s.aside():
		c.regular.Store(now)
	}
}

// OnLastResort reports whether all answers of the last while came from a last resort, because the other sources failed:
// all but those of sources that are aside.
func (c *Chain) OnLastResort(while time.Duration) bool {
	since := time.Now().Add(-while).Unix()
	return c.resorted.Load() > since && c.regular.Load() <= since
}

// mayBeNegative reports whether the input can be at fault: what is the endpoint's own
// choice exists, and a source that does not have it has failed.
func (p *pass) mayBeNegative() bool { return p.chain.MayBeNegative && !p.call.Defaults }

// isFinal reports whether a source's failure ends the chain.
func (p *pass) isFinal(s *Source, err error) bool {
	if typed, ok := errors.AsType[*Error](err); ok && typed.Kind == Negative {
		return p.mayBeNegative() && !s.Next && !typed.Next
	}
	return KindOf(err).definite()
}

// failure is that of one source.
type failure struct {
	err      error
	optional bool // of an optional source
}

// anyFailed reports whether a source failed, rather than was skipped or answered
// negatively.
func anyFailed(failures []failure) bool {
	for _, f := range failures {
		if k := KindOf(f.err); k != Skipped && k != Negative {
			return true
		}
	}
	return false
}

// planned is a source in one pass through a chain.
type planned struct {
	source *Source
	serves bool  // its when condition holds
	failed error // its when condition could not be evaluated
}

// plan lists the sources of a pass. Their conditions are evaluated once,
// before the first attempt, so that the time can be divided among them.
func (c *Chain) plan(ctx context.Context, call *Call, hasCopy bool) []planned {
	out := make([]planned, 0, len(c.Sources))
	for _, s := range c.Sources {
		if hasCopy && (s.LastResort || s.After == AfterNegative) {
			continue // the copy is better
		}
		t := planned{source: s}
		t.serves, t.failed = s.serves(ctx, call)
		out = append(out, t)
	}
	return out
}

// ask lets the source answer if it serves the call, or reports why it is not asked.
func (t *planned) ask(ctx context.Context, until time.Time, p *pass) (Answer, error) {
	switch {
	case t.failed != nil:
		return Answer{}, t.source.notAsked(t.failed, p.watch)
	case !t.serves:
		return Answer{}, t.source.notAsked(&Error{Kind: Skipped}, p.watch)
	}
	return t.source.attemptWithRetries(ctx, until, p)
}

// localTime is the time before a deadline that remote sources cannot use up: it is
// for sources that need no network, and for rendering the answer.
const localTime = 500 * time.Millisecond

// ended is nil, or why what is to end at a time, or with ctx before, has ended. Zero: it ends
// with ctx. It needs no timer.
func ended(ctx context.Context, until time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !until.IsZero() && !time.Now().Before(until) {
		return context.DeadlineExceeded
	}
	return nil
}

// deadlineOf is when ctx ends by itself; zero: never.
func deadlineOf(ctx context.Context) time.Time {
	until, _ := ctx.Deadline()
	return until
}

// earlier is the earlier of two times, of which a zero one never comes.
func earlier(until, other time.Time) time.Time {
	if until.IsZero() || other.Before(until) {
		return other
	}
	return until
}

// remoteDeadline is the deadline of ctx, earlier by localTime, but by no more than half of the time
// that is left.
func remoteDeadline(ctx context.Context) time.Time {
	until := deadlineOf(ctx)
	if until.IsZero() {
		return until
	}
	return until.Add(-min(localTime, time.Until(until)/2))
}

// allot is until when the first of these sources is asked, so that time is left for
// the others: where their timeouts add up to more than is left, each is shortened in
// proportion.
func allot(until time.Time, plan []planned) time.Time {
	if until.IsZero() {
		return until
	}
	var wanted time.Duration
	for _, t := range plan {
		if t.serves && t.source.Remote() {
			wanted += t.source.longest()
		}
	}
	now := time.Now()
	left := until.Sub(now)
	if wanted <= left {
		return until
	}
	return now.Add(time.Duration(float64(left) * float64(plan[0].source.longest()) / float64(wanted)))
}

// combine makes one error of a chain's failures. It is negative only if every
// source that was asked said so (failures of optional sources aside), or if all
// sources were tried and none of them serves the input. It is a timeout only if
// all of them timed out.
func (p *pass) combine(failures []failure, planned int) error {
	over := ended(p.ctx, p.remoteUntil)
	count := map[ErrorKind]int{}
	causes := make([]error, 0, len(failures)+1)
	asked, optional := 0, 0
	for _, f := range failures {
		kind := KindOf(f.err)
		causes = append(causes, f.err)
		switch {
		case kind == Skipped:
			continue
		case f.optional && kind != Negative:
			optional++
		default:
			asked++
		}
		count[kind]++
	}
	kind := Unavailable
	switch {
	case errors.Is(over, context.Canceled):
		causes = append(causes, over)
	case p.mayBeNegative() && count[Negative] == asked && (asked > 0 || optional == 0 && planned > 0 && len(failures) == planned):
		kind = Negative
	case errors.Is(over, context.DeadlineExceeded), asked+optional > 0 && count[Timeout] == asked+optional:
		kind = Timeout
	case asked+optional > 0 && count[Internal] == asked+optional:
		kind = Internal
	case asked+optional > 0 && count[Busy] == asked+optional:
		kind = Busy
	}
	return &Error{Kind: kind, Err: errors.Join(causes...)}
}
