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
	seen    chainMetrics
}

// Do asks the sources in order within ctx's deadline. The error is an *Error:
// a definite no, or what the failures amount to. watch, when not nil, sees
// every attempt.
func (c *Chain) Do(ctx context.Context, call *Call, watch func(Attempt)) (Answer, error) {
	asking, cancel := leaving(ctx, reserve)
	defer cancel()
	var failures []error
	for _, s := range c.Sources {
		within := ctx
		if s.remote {
			within = asking
		}
		if within.Err() != nil {
			continue // no time for this one; a source of our own may follow
		}
		answer, err := s.do(within, call, watch)
		if err == nil {
			if tried(failures) {
				c.seen.failovers.Inc()
			}
			return answer, nil
		}
		failures = append(failures, err)
		if kind := KindOf(err); kind.definite() && (kind != Negative || !s.next) {
			return Answer{}, err
		}
	}
	return Answer{}, sum(asking, failures)
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

// tried tells whether any source before failed, and was not just skipped or
// without knowledge.
func tried(failures []error) bool {
	for _, err := range failures {
		if k := KindOf(err); k != Skipped && k != Negative {
			return true
		}
	}
	return false
}

// sum makes one error of a chain's failures. "No such thing" needs all who
// were asked to say so; a timeout, that time was all they lacked.
func sum(ctx context.Context, failures []error) error {
	count := map[Kind]int{}
	var asked int
	for _, err := range failures {
		kind := KindOf(err)
		count[kind]++
		if kind != Skipped {
			asked++
		}
	}
	kind := Unavailable
	switch {
	case asked == 0:
		kind = Negative
	case count[Negative] == asked:
		kind = Negative
	case errors.Is(ctx.Err(), context.DeadlineExceeded), count[Timeout] == asked:
		kind = Timeout
	case count[Internal] == asked:
		kind = Internal
	}
	return &Error{Kind: kind, Err: errors.Join(failures...)}
}
