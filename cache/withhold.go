package cache

import (
	"context"
	"errors"
	"time"

	"sundry/cache/jitter"
	"sundry/cache/policy"
)

// QuotaAware is a Loader whose loads draw from a quota, on which callers without a copy
// depend.
type QuotaAware interface {
	Loader
	// Withholds reports whether a refresh is to be withheld. worth says whether it is
	// worth a call where this share, 0 to 1, is left of what refreshes may take.
	Withholds(ctx context.Context, worth func(left float64) bool) bool
}

// errWithheld says why a stale copy is served without a try.
var errWithheld = errors.New("the refresh was withheld: little is left of the quota")

// withholds reports whether the refresh of a key is withheld, whose copy is in this state
// and fresh for left. It is not decided again before the longest pause after failures
// has passed, less up to a fifth: by then, the quota may be restored.
func (s *Space) withholds(ctx context.Context, key string, load Loader, state policy.State, left time.Duration, now time.Time) bool {
	t, ok := load.(QuotaAware)
	if !ok {
		return false
	}
	_, err := s.cache.withheld.paused(key, true, now)
	switch {
	case err != nil:
		return true
	case !t.Withholds(ctx, func(quota float64) bool { return s.policy.WorthCall(state, left, quota) }):
		return false
	}
	s.cache.withheld.adopt(key, failure{err: errWithheld, until: now.Add(jitter.Below(s.policy.PauseMax, 0.2))})
	return true
}

// withheldCopy is the copy to be served in the place of a load that is withheld; nil: it
// is not.
func (f *fill) withheldCopy(ctx context.Context) *flightResult {
	now := time.Now()
	got := f.usableCopy(now)
	if got == nil {
		return nil
	}
	state, left := f.state(f.key, &got.entry.Meta, now)
	if !f.withholds(ctx, f.key, f.loader, state, left, now) {
		return nil
	}
	return got
}
