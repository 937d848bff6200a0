package cache

import (
	"context"
	"maps"
	"sync/atomic"
	"time"

	"sundry/cache/entry"
	"sundry/cache/policy"
	"sundry/cache/purged"
)

// purges are those in force, by endpoint: as they were ordered, and as they apply here, see
// heardAt. The zero value is ready. Protected by the cache's lock.
type purges struct{ ordered, heard map[string]policy.Purge }

// of is what applies to an endpoint; nil: nothing.
func (m *purges) of(endpoint string) *policy.Purge {
	own, all := m.heard[endpoint], m.heard[policy.AllEndpoints]
	merged := policy.Purge{Soft: policy.Later(own.Soft, all.Soft), Hard: policy.Later(own.Hard, all.Hard)}
	if merged == (policy.Purge{}) {
		return nil
	}
	return &merged
}

// SetPurges replaces all purges in force by these, by endpoint or for
// AllEndpoints. Later entries are not affected. A purge of the future, from a clock that
// is ahead, counts as of now when it is first set, and one that lies ahead later, as this clock
// was set back, as of when that is noticed; what was cached until then is purged.
func (c *Cache) SetPurges(byEndpoint map[string]policy.Purge) {
	now := time.Now()
	if hard := c.setPurges(byEndpoint, now); len(hard) > 0 {
		c.near.RemoveFuture(hard, now)
	}
}

// setPurges replaces all purges, and returns the endpoints with a new hard one.
func (c *Cache) setPurges(ordered map[string]policy.Purge, now time.Time) (hard []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	heard := make(map[string]policy.Purge, len(ordered))
	for name, p := range ordered {
		old, as := c.purges.ordered[name], c.purges.heard[name]
		if !p.Hard.Equal(old.Hard) {
			hard = append(hard, name)
		}
		heard[name] = policy.Purge{Soft: heardAt(p.Soft, old.Soft, as.Soft, now), Hard: heardAt(p.Hard, old.Hard, as.Hard, now)}
	}
	c.purges = purges{maps.Clone(ordered), heard}
	c.applyPurges()
	return hard
}

// applyPurges tells all spaces of the purges in force. The caller holds mu.
func (c *Cache) applyPurges() {
	for _, s := range c.spaces {
		s.purge.Store(c.purges.of(s.endpoint))
	}
}

// spacePurges is what was purged of a space. Spaces of one name share it. The zero value is ready.
type spacePurges struct {
	purge   atomic.Pointer[policy.Purge] // of its endpoint; nil: none
	keys    purged.Keys
	dropped purged.Keys // see tellDrop
}

// heardAt is the time up to which an order applies: its own, but not a later one than
// that at which it was heard. One that is known already stays as it was heard; one that is
// dated anew, because a clock was set, does not bring back what it has purged.
func heardAt(order, known, heard, now time.Time) time.Time {
	if order.Equal(known) {
		return heard
	}
	return notAhead(policy.Later(order, heard), now)
}

// notAhead is the time of a purge, or now, if it is further ahead than clocks differ by.
func notAhead(at, now time.Time) time.Time {
	if at.Sub(now) > entry.Skew {
		return now
	}
	return at
}

// PurgeKey makes the entries of a key unusable that were created at or before at, or any
// part of which was, here and in Redis, and those of fills that began before it. What an
// entry was made of is asked for anew: see dropped. The time is that of the operator's
// request, the same on every instance; one more than a second ahead of this clock counts
// as now.
func (s *Space) PurgeKey(key string, at time.Time) {
	now := time.Now()
	at = notAhead(at, now)
	s.rememberParts(key, at, now)
	s.purgeKey(key, at, now)
}

// purgeKey is PurgeKey but for what the entry was made of.
func (s *Space) purgeKey(key string, at, now time.Time) {
	s.rememberPurge(key, at, now)
	removed := s.cache.near.RemoveUntil(s.policy.Class, key, at, now)
	if s.usesFar() {
		if removed.After(now) {
			removed = now // by a clock that was ahead; others may have filled the key since
		}
		s.cache.far.Delete(key, policy.Later(at, removed))
	}
}

func (s *Space) rememberPurge(key string, at, now time.Time) {
	s.keys.Add(s.cache.near.Hash(key), at, now, purged.Life)
}

// keyPurgedBefore is the instant up to which entries of the key are gone by a
// purge of the key. It costs a hit nothing while no key was purged lately.
func (s *Space) keyPurgedBefore(key string, now time.Time) time.Time {
	if !s.keys.Any(now) {
		return time.Time{}
	}
	return s.keys.Last(s.cache.near.Hash(key), now)
}

// purgedBefore is the instant up to which entries of the key are gone, by a hard
// purge of the endpoint or a purge of the key.
func (s *Space) purgedBefore(key string, now time.Time) time.Time {
	at := s.keyPurgedBefore(key, now)
	if p := s.purge.Load(); p != nil {
		at = policy.Later(at, p.Hard)
	}
	return at
}

// creationTime is the creation time of an entry whose load begins now. It is after
// all purges known by then, although those may come from clocks that are ahead.
func (s *Space) creationTime(key string, now time.Time) time.Time {
	last := s.lastPurge(key, now)
	if last.Sub(now) > entry.Skew {
		s.hearAnew(now)
		last = s.lastPurge(key, now)
	}
	if now.Truncate(time.Millisecond).After(last) {
		return now
	}
	return last.Add(time.Millisecond)
}

// lastPurge is the instant of the last purge, soft or hard, that applies to the key.
func (s *Space) lastPurge(key string, now time.Time) time.Time {
	last := s.purgedBefore(key, now)
	if p := s.purge.Load(); p != nil {
		last = policy.Later(last, p.Soft)
	}
	return last
}

// hearAnew dates the purges that lie ahead now: this clock was set back since they were heard.
// Until it had caught up, nothing that is made would count.
func (s *Space) hearAnew(now time.Time) {
	if hard := s.cache.hearAnew(now); len(hard) > 0 {
		s.cache.near.RemoveFuture(hard, now)
	}
	again := func(at time.Time) time.Time { return notAhead(at, now) }
	s.keys.Redate(again)
	s.dropped.Redate(again)
}

// hearAnew dates the purges of endpoints that lie ahead now, and returns the endpoints of which that was a hard one.
func (c *Cache) hearAnew(now time.Time) (hard []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	heard := make(map[string]policy.Purge, len(c.purges.heard))
	for name, p := range c.purges.heard {
		heard[name] = policy.Purge{Soft: notAhead(p.Soft, now), Hard: notAhead(p.Hard, now)}
		if !heard[name].Hard.Equal(p.Hard) {
			hard = append(hard, name)
		}
	}
	c.purges.heard = heard
	c.applyPurges()
	return hard
}

// purgedSince reports whether the entry was hard purged after it was created.
func (s *Space) purgedSince(key string, m *entry.Meta, now time.Time) bool {
	if m.MadeBefore(s.keyPurgedBefore(key, now), now) {
		return true
	}
	p := s.purge.Load()
	return p != nil && m.MadeBefore(p.Hard, now)
}

// A drop of a key takes what its entry was made of: the next fill is told of it, and asks
// anew for values that were created before it, however long they are kept (see Values).
// The drop is remembered until none of them can be left. Past purged.Limit drops, the
// oldest counts for all keys.

// dropKey is the context's key for the time at which the key that is being filled was
// dropped.
type dropKey struct{}

// tellDrop adds the time at which the key was dropped, if it was.
func (s *Space) tellDrop(ctx context.Context, key string, now time.Time) context.Context {
	if !s.dropped.Any(now) {
		return ctx
	}
	if at := policy.Later(s.dropped.Last(s.cache.near.Hash(key), now), s.dropped.Forgotten()); !at.IsZero() {
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
	s.dropped.Add(s.cache.near.Hash(key), at, now, longest)
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
