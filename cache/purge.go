package cache

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

// purges are those in force, by endpoint: as they were ordered, and as they apply here, see
// heardAt. The zero value is ready. Protected by the cache's lock.
type purges struct{ ordered, heard map[string]policy.Purge }

// of is what applies to an endpoint; nil: nothing.
func (m *purges) of(endpoint string) *policy.Purge {
	own, all := m.heard[endpoint], m.heard[policy.AllEndpoints]
	merged := policy.Purge{Soft: later(own.Soft, all.Soft), Hard: later(own.Hard, all.Hard)}
	if merged == (policy.Purge{}) {
		return nil
	}
	return &merged
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
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

// purged is what was purged of a space. Spaces of one name share it. The zero value is ready.
type purged struct {
	purge   atomic.Pointer[policy.Purge] // of its endpoint; nil: none
	mu      sync.Mutex                   // held while keys are added
	keys    atomic.Pointer[purgedKeys]   // nil while none was purged lately
	dropped atomic.Pointer[purgedKeys]   // see tellDrop
}

// heardAt is the time up to which an order applies: its own, but not a later one than
// that at which it was heard. One that is known already stays as it was heard; one that is
// dated anew, because a clock was set, does not bring back what it has purged.
func heardAt(order, known, heard, now time.Time) time.Time {
	if order.Equal(known) {
		return heard
	}
	return notAhead(later(order, heard), now)
}

// notAhead is the time of a purge, or now, if it is further ahead than clocks differ by.
func notAhead(at, now time.Time) time.Time {
	if at.Sub(now) > entry.Skew {
		return now
	}
	return at
}

const (
	// purgedKeyTime is how long the purge of a key is remembered: longer than a
	// fill that began before it, or its write that waits for Redis, may take.
	purgedKeyTime = 10 * time.Minute
	// maxPurgedKeys bounds the number remembered for a space; past it, the oldest
	// is forgotten.
	maxPurgedKeys = 1024
)

// purgedKeys are the keys of a space that were purged lately. It is immutable:
// readers need no lock.
type purgedKeys struct {
	at    map[string]purgedKey
	until time.Time // when all may be forgotten
	// forgotten is the time of the latest purge that was forgotten for want of room.
	forgotten time.Time
}

type purgedKey struct{ at, until time.Time }

// before is the instant up to which entries of the key are gone; zero: none.
func (k *purgedKeys) before(key string, now time.Time) time.Time {
	if k == nil {
		return time.Time{}
	}
	if r := k.at[key]; now.Before(r.until) {
		return r.at
	}
	return time.Time{}
}

// with is a copy with one more purge, to be remembered that long, without those that may
// be forgotten.
func (k *purgedKeys) with(key string, at, now time.Time, life time.Duration) *purgedKeys {
	next := &purgedKeys{at: map[string]purgedKey{}, until: now.Add(life)}
	if k != nil {
		next.until, next.forgotten = later(next.until, k.until), k.forgotten
		maps.Copy(next.at, k.at)
		maps.DeleteFunc(next.at, func(_ string, r purgedKey) bool { return !now.Before(r.until) })
	}
	next.at[key] = purgedKey{later(at, next.at[key].at), now.Add(life)}
	if len(next.at) > maxPurgedKeys {
		oldest := next.oldest()
		next.forgotten = later(next.forgotten, next.at[oldest].at)
		delete(next.at, oldest)
	}
	return next
}

// heardAnew is a copy with the purges that lie ahead dated now.
func (k *purgedKeys) heardAnew(now time.Time) *purgedKeys {
	if k == nil {
		return nil
	}
	next := &purgedKeys{at: make(map[string]purgedKey, len(k.at)), until: k.until, forgotten: notAhead(k.forgotten, now)}
	for key, r := range k.at {
		next.at[key] = purgedKey{notAhead(r.at, now), r.until}
	}
	return next
}

func (k *purgedKeys) oldest() string {
	first, end := "", k.until.Add(time.Nanosecond)
	for key, r := range k.at {
		if r.until.Before(end) {
			first, end = key, r.until
		}
	}
	return first
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
		s.cache.far.Delete(key, later(at, removed))
	}
}

func (s *Space) rememberPurge(key string, at, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys.Store(s.keys.Load().with(key, at, now, purgedKeyTime))
}

// keyPurgedBefore is the instant up to which entries of the key are gone by a
// purge of the key. It costs a hit nothing while no key was purged lately.
func (s *Space) keyPurgedBefore(key string, now time.Time) time.Time {
	d := s.keys.Load()
	if d == nil {
		return time.Time{}
	}
	if !now.Before(d.until) {
		s.keys.CompareAndSwap(d, nil)
		return time.Time{}
	}
	return d.before(key, now)
}

// purgedBefore is the instant up to which entries of the key are gone, by a hard
// purge of the endpoint or a purge of the key.
func (s *Space) purgedBefore(key string, now time.Time) time.Time {
	at := s.keyPurgedBefore(key, now)
	if p := s.purge.Load(); p != nil {
		at = later(at, p.Hard)
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
		last = later(last, p.Soft)
	}
	return last
}

// hearAnew dates the purges that lie ahead now: this clock was set back since they were heard.
// Until it had caught up, nothing that is made would count.
func (s *Space) hearAnew(now time.Time) {
	if hard := s.cache.hearAnew(now); len(hard) > 0 {
		s.cache.near.RemoveFuture(hard, now)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys.Store(s.keys.Load().heardAnew(now))
	s.dropped.Store(s.dropped.Load().heardAnew(now))
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
