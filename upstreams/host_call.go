package upstreams

import (
	"context"

	"sundry/upstreams/host"
)

// ThroughBreaker makes one exchange under the host's breaker; the verdict is part of
// what the breaker learns, because upstreams say "not now" with status 200. A
// nil host has no breaker.
func ThroughBreaker(ctx context.Context, h *host.Host, rules []Rule, in *Input, ask func(context.Context) (*Reply, error)) (*Reply, error) {
	done := func(host.Outcome) {}
	if h != nil {
		var err error
		if ctx, done, err = h.Enter(ctx, in.Call.Caller); err != nil {
			return nil, err
		}
	}
	returned := false
	defer func() {
		if !returned { // a panic gives back what was taken
			done(host.Healthy)
		}
	}()
	r, err := ask(ctx)
	if err == nil && !r.Judged {
		err = Judge(ctx, rules, r, in.Env)
	}
	returned = true
	done(outcome(err))
	return r, err
}
