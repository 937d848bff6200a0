package cache

import (
	"context"
	"time"
)

// A drop of a key takes what its entry was made of: the next fill is told of it, and asks
// anew for values that were created before it, however long they are kept (see Values).
// The drop is remembered until none of them can be left. Past maxPurgedKeys drops, the
// oldest counts for all keys.

// dropKey is the context's key for the time at which the key that is being filled was
// dropped.
type dropKey struct{}

// tellDrop adds the time at which the key was dropped, if it was.
func (s *Space) tellDrop(ctx context.Context, key string, now time.Time) context.Context {
	d := s.dropped.Load()
	if d == nil {
		return ctx
	}
	if !now.Before(d.until) {
		s.dropped.CompareAndSwap(d, nil)
		return ctx
	}
	if at := later(d.before(key, now), d.forgotten); !at.IsZero() {
		return context.WithValue(ctx, dropKey{}, at)
	}
	return ctx
}

// rememberParts remembers the drop of a key for the fills of it.
func (s *Space) rememberParts(key string, at, now time.Time) {
	longest := time.Duration(0)
	for _, other := range s.cache.Spaces(s.endpoint) {
		if other.name != s.name {
			longest = max(longest, other.policy.TTL)
		}
	}
	if longest == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped.Store(s.dropped.Load().with(key, at, now, longest))
}

// dropOlder purges the value of a key for a fill whose own key was dropped, unless it was
// created since.
func (v *Values) dropOlder(ctx context.Context, key string) {
	at, told := ctx.Value(dropKey{}).(time.Time)
	if !told || v.Session {
		return
	}
	now, s := time.Now(), v.space
	if e, ok := s.cache.near.Head(s.policy.Class, key); !ok || e.Meta.MadeBefore(at, now) {
		s.purgeKey(key, at, now) // of a load that has begun as well
	}
}
