package upstreams

import (
	"context"
	"errors"
	"time"
)

// Chain is sources in order, asked until one gives a definite answer.
type Chain struct {
	Sources []*Source
	// LeftOut are those that lack a key.
	LeftOut []*Source
	// refuses tells that a caller's input can be at fault: without any, what a
	// source does not have is its own failure, and never the answer.
	refuses bool
	metrics chainMetrics
}

// Refuses tells whether a caller's input can be at fault.
func (c *Chain) Refuses() bool { return c.refuses }

// Do asks the sources in order within ctx's deadline. The error is an *Error:
// a definite no, or what the failures amount to. With covered, a copy that may
// stand in is at hand, and the last resorts are left alone. watch, when not
// nil, sees every attempt.
func (c *Chain) Do(ctx context.Context, call *Call, covered bool, watch func(Attempt)) (Answer, error) {
	asking, cancel := withReserve(ctx, reserve)
	defer cancel()
	turns := c.candidates(asking, call, covered)
	var failures []failure
	for i := range turns {
		t := &turns[i]
		within, done := ctx, func() {}
		if t.source.AsksOthers() {
			within, done = share(asking, turns[i:])
		}
		if within.Err() != nil {
			done()
			continue // no time for this one; a source of our own may follow
		}
		answer, err := t.do(within, call, watch)
		done()
		if err == nil {
			c.answered(failures, &answer)
			return answer, nil
		}
		failures = append(failures, failure{err, t.source.Optional})
		if c.isFinal(t.source, err) {
			return Answer{}, err
		}
	}
	return Answer{}, c.combine(asking, failures, len(turns))
}

// answered counts what an answer says of the sources before.
func (c *Chain) answered(failures []failure, a *Answer) {
	if anyFailed(failures) {
		c.metrics.failovers.Inc()
	}
	if a.LastResort {
		c.metrics.lastResorts.Inc()
	}
}

// isFinal tells whether a source's failure is the last word.
func (c *Chain) isFinal(s *Source, err error) bool {
	if typed, ok := errors.AsType[*Error](err); ok && typed.Kind == Negative {
		return c.refuses && !s.Next && !typed.Next
	}
	return KindOf(err).definite()
}

// failure is one source's, and whether the others outweigh it.
type failure struct {
	err      error
	optional bool
}

// anyFailed tells whether any source before failed, and was not just skipped or
// without knowledge.
func anyFailed(failures []failure) bool {
	for _, f := range failures {
		if k := KindOf(f.err); k != Skipped && k != Negative {
			return true
		}
	}
	return false
}

// combine makes one error of a chain's failures. Only what somebody said is an
// answer: "no such thing" needs all who were asked to say so, those aside whose
// failure does not outweigh the others, or that by the catalog none of the
// sources, all of which had their turn, serves the input. A timeout needs that
// time was all they lacked.
func (c *Chain) combine(ctx context.Context, failures []failure, turns int) error {
	count := map[Kind]int{}
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
	case errors.Is(ctx.Err(), context.Canceled):
		causes = append(causes, ctx.Err())
	case c.refuses && count[Negative] == asked && (asked > 0 || optional == 0 && turns > 0 && len(failures) == turns):
		kind = Negative
	case errors.Is(ctx.Err(), context.DeadlineExceeded), asked+optional > 0 && count[Timeout] == asked+optional:
		kind = Timeout
	case asked+optional > 0 && count[Internal] == asked+optional:
		kind = Internal
	case asked+optional > 0 && count[Busy] == asked+optional:
		kind = Busy
	}
	return &Error{Kind: kind, Err: errors.Join(causes...)}
}

// NewChain joins compiled sources. Those that are nil are dropped, those
// without their key are left out. refuses tells that the endpoint takes input
// that can be at fault: without, the chain never ends in a definite no.
func NewChain(endpoint string, sources []*Source, refuses bool, env *Environment) *Chain {
	c := &Chain{refuses: refuses, metrics: env.Metrics.chain(endpoint)}
	for _, s := range sources {
		switch {
		case s == nil:
		case s.Missing != "":
			c.LeftOut = append(c.LeftOut, s)
		default:
			c.Sources = append(c.Sources, s)
		}
	}
	return c
}

// candidate is a source's place in one pass through a chain.
type candidate struct {
	source *Source
	serves bool  // its when holds
	failed error // its when could not be told
}

// candidates lists the sources of a pass. Which of them serve the input is asked
// once, before, so that the time can be shared out.
func (c *Chain) candidates(ctx context.Context, call *Call, covered bool) []candidate {
	turns := make([]candidate, 0, len(c.Sources))
	for _, s := range c.Sources {
		if s.LastResort && covered {
			continue
		}
		t := candidate{source: s}
		t.serves, t.failed = s.serves(ctx, call)
		turns = append(turns, t)
	}
	return turns
}

// do asks the source, or says why not.
func (t *candidate) do(ctx context.Context, call *Call, watch func(Attempt)) (Answer, error) {
	switch {
	case t.failed != nil:
		return Answer{}, t.source.notAsked(t.failed, watch)
	case !t.serves:
		return Answer{}, t.source.notAsked(&Error{Kind: Skipped}, watch)
	}
	return t.source.do(ctx, call, watch)
}

// reserve is the time at the end of a deadline that others' services cannot
// use up: it is for sources that need no network, and for what is made of the
// answer.
const reserve = 500 * time.Millisecond

// withReserve is ctx with its deadline so much earlier, but never by more than
// half of what is left.
func withReserve(ctx context.Context, reserve time.Duration) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-min(reserve, time.Until(deadline)/2)))
}

// share bounds the first of these turns so that each of the others has its part
// of the time as well: where their timeouts together are more than is left,
// each gets as much less.
func share(ctx context.Context, turns []candidate) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	var wanted time.Duration
	for _, t := range turns {
		if t.serves && t.source.AsksOthers() {
			wanted += t.source.longest()
		}
	}
	left := time.Until(deadline)
	if wanted <= left {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Duration(float64(left)*float64(turns[0].source.longest())/float64(wanted)))
}
