package upstreams

import (
	"context"
	"time"
)

// turn is a source's place in one pass through a chain.
type turn struct {
	source *Source
	serves bool  // its when holds
	failed error // its when could not be told
}

// turns lists the sources of a pass. Which of them serve the input is asked
// once, before, so that the time can be shared out.
func (c *Chain) turns(ctx context.Context, call *Call, covered bool) []turn {
	turns := make([]turn, 0, len(c.Sources))
	for _, s := range c.Sources {
		if s.LastResort && covered {
			continue
		}
		t := turn{source: s}
		t.serves, t.failed = s.serves(ctx, call)
		turns = append(turns, t)
	}
	return turns
}

// do asks the source, or says why not.
func (t *turn) do(ctx context.Context, call *Call, watch func(Attempt)) (Answer, error) {
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

// leaving is ctx with its deadline so much earlier, but never by more than
// half of what is left.
func leaving(ctx context.Context, reserve time.Duration) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-min(reserve, time.Until(deadline)/2)))
}

// share bounds the first of these turns so that each of the others has its part
// of the time as well: where their timeouts together are more than is left,
// each gets as much less.
func share(ctx context.Context, turns []turn) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	var wanted time.Duration
	for _, t := range turns {
		if t.serves && t.source.AsksOthers() {
			wanted += t.source.patience()
		}
	}
	left := time.Until(deadline)
	if wanted <= left {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Duration(float64(left)*float64(turns[0].source.patience())/float64(wanted)))
}
