package upstreams

import (
	"context"
	"slices"
	"time"

	"sundry/upstreams/host"
)

// HasQuota reports whether a source of the chain has a quota.
func (c *Chain) HasQuota() bool { return len(c.quotas) > 0 }

// Withholds reports whether a refresh is to be withheld, because little is left of the
// quota of the source that it would call first. worth says whether a refresh is worth
// a call where this share, 0 to 1, of what refreshes may take is left. It calls nobody.
func (c *Chain) Withholds(ctx context.Context, call *Call, worth func(left float64) bool) bool {
	now := time.Now()
	scarce := func(q *host.Quota) bool { return !worth(q.LeftToRefresh(now)) }
	if !slices.ContainsFunc(c.quotas, scarce) {
		return false
	}
	s := c.firstOfRefresh(ctx, call)
	if s == nil || s.Quota == nil || !scarce(s.Quota) {
		return false
	}
	s.metrics.withheld.Inc()
	return true
}

// firstOfRefresh is the source that a refresh would call first; nil: it would call none.
// Those that answer here, without a quota, are not called.
func (c *Chain) firstOfRefresh(ctx context.Context, call *Call) *Source {
	for _, s := range c.Sources {
		if (s.Remote() || s.Quota != nil) && !s.LastResort && s.After == "" && !s.rejects() && s.Serves(ctx, call) {
			return s
		}
	}
	return nil
}

// quotasOf are those of the sources, each once.
func quotasOf(sources []*Source) []*host.Quota {
	var all []*host.Quota
	for _, s := range sources {
		if s.Quota != nil && !slices.Contains(all, s.Quota) {
			all = append(all, s.Quota)
		}
	}
	return all
}
