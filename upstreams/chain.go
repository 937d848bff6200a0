package upstreams

import (
	"context"
	"errors"
)

// Chain is sources in order, asked until one gives a definite answer.
type Chain struct {
	Sources []*Source
	seen    chainMetrics
}

// Do asks the sources in order within ctx's deadline. The error is an *Error:
// a definite no, or what the failures amount to. watch, when not nil, sees
// every attempt.
func (c *Chain) Do(ctx context.Context, call *Call, watch func(Attempt)) (Answer, error) {
	var failures []error
	for _, s := range c.Sources {
		answer, err := s.do(ctx, call, watch)
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
		if ctx.Err() != nil {
			break
		}
	}
	return Answer{}, sum(ctx, failures)
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
