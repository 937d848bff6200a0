package upstreams

import (
	"context"

	"sundry/upstreams/host"
)

// guarded makes one exchange under the host's breaker; the verdict is part of
// what the breaker learns, because upstreams say "not now" with status 200. A
// nil host has no breaker.
func guarded(ctx context.Context, h *host.Host, rules []Rule, in *input, ask func(context.Context) (*reply, error)) (*reply, error) {
	done := func(host.Outcome) {}
	if h != nil {
		var err error
		if ctx, done, err = h.Enter(ctx, in.call.Caller); err != nil {
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
	if err == nil && !r.judged {
		err = judge(ctx, rules, r, in.env)
	}
	returned = true
	done(outcome(err))
	return r, err
}
