package cache

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// Purge is an operator's purge of an endpoint: entries older than it no longer
// count, nor do those made of parts that are older. It is applied when an entry
// is read, in either tier, so that it needs no walk through them and reaches what
// Redis still holds. The zero value purges nothing.
type Purge struct {
	// Soft makes entries created before it stale: the next caller refreshes
	// them, and they are still served as fallback when that fails.
	Soft time.Time `json:"soft,omitzero"`
	// Hard makes entries created before it unusable.
	Hard time.Time `json:"hard,omitzero"`
}

// AllEndpoints names the purge of all endpoints.
const AllEndpoints = "*"

// apply turns what the policy says of an entry into what is left of it.
func (m *Purge) apply(meta *Meta, p *Policy, now time.Time, state State, left time.Duration) (State, time.Duration) {
	if m == nil {
		return state, left
	}
	switch born := meta.oldest(); {
	case !born.After(m.Hard):
		return Gone, min(left, m.Hard.Sub(now))
	case born.After(m.Soft) || state >= Grace:
		return state, left
	case meta.Negative:
		return Gone, min(left, m.Soft.Sub(now))
	case p.Grace > 0:
		return Grace, min(left, m.Soft.Sub(now))
	}
	return Stale, min(left, m.Soft.Sub(now))
}

// marks are the purges in force, by endpoint. The zero value is ready.
type marks struct {
	mu sync.Mutex
	of map[string]*atomic.Pointer[Purge]
	// all is the latest mark of each kind that is for every endpoint.
	all Purge
	set map[string]Purge
}

// slot is where an endpoint's spaces look for their mark.
func (m *marks) slot(name string) *atomic.Pointer[Purge] {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil {
		m.of = map[string]*atomic.Pointer[Purge]{}
	}
	p, ok := m.of[name]
	if !ok {
		p = &atomic.Pointer[Purge]{}
		m.of[name] = p
		m.store(name, p)
	}
	return p
}

func (m *marks) store(name string, p *atomic.Pointer[Purge]) {
	own := m.set[name]
	merged := Purge{Soft: later(own.Soft, m.all.Soft), Hard: later(own.Hard, m.all.Hard)}
	if merged == (Purge{}) {
		p.Store(nil)
		return
	}
	p.Store(&merged)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// SetPurges replaces all purges in force by these, by endpoint or for
// AllEndpoints. A purge lies in the past: later entries are not affected.
func (c *Cache) SetPurges(byEndpoint map[string]Purge) {
	m := &c.marks
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all, m.set = byEndpoint[AllEndpoints], byEndpoint
	for name, p := range m.of {
		m.store(name, p)
	}
}

const (
	// dropKeep is how long a drop is remembered: longer than a fill that began
	// before it, or a write of one that waits for Redis, may take.
	dropKeep = 10 * time.Minute
	// maxDrops bounds what a space remembers; past it, the oldest is forgotten.
	maxDrops = 1024
	// skew is how far apart the clocks of a fleet are taken to be at most.
	skew = time.Minute
)

// drops are the keys of a space that were dropped lately. A value of it does
// not change: readers have it without a lock.
type drops struct {
	at    map[string]dropped
	until time.Time // when all may be forgotten
}

type dropped struct{ at, until time.Time }

// before is the instant up to which entries of the key are gone; zero: none.
func (d *drops) before(key string, now time.Time) time.Time {
	if d == nil {
		return time.Time{}
	}
	if r := d.at[key]; now.Before(r.until) {
		return r.at
	}
	return time.Time{}
}

// with is d and one drop more, without those that may be forgotten.
func (d *drops) with(key string, at, now time.Time) *drops {
	next := &drops{at: map[string]dropped{}, until: now.Add(dropKeep)}
	if d != nil {
		maps.Copy(next.at, d.at)
		maps.DeleteFunc(next.at, func(_ string, r dropped) bool { return !now.Before(r.until) })
	}
	next.at[key] = dropped{later(at, next.at[key].at), next.until}
	if len(next.at) > maxDrops {
		delete(next.at, next.oldest())
	}
	return next
}

func (d *drops) oldest() string {
	first, end := "", d.until.Add(time.Nanosecond)
	for key, r := range d.at {
		if r.until.Before(end) {
			first, end = key, r.until
		}
	}
	return first
}

// dropSlots are where spaces look for their drops, by name. The zero value is
// ready.
type dropSlots struct {
	mu sync.Mutex
	of map[string]*atomic.Pointer[drops]
}

// slot holds nil while nothing was dropped lately.
func (d *dropSlots) slot(name string) *atomic.Pointer[drops] {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.of == nil {
		d.of = map[string]*atomic.Pointer[drops]{}
	}
	p, ok := d.of[name]
	if !ok {
		p = &atomic.Pointer[drops]{}
		d.of[name] = p
	}
	return p
}

// PurgeKey makes the entries of a key gone that were created at or before at, here
// and in Redis, and those of fills that began before it. The time is that of the
// order, the same on every instance; one ahead of this clock by more than a
// minute counts as now.
func (s *Space) PurgeKey(key string, at time.Time) {
	now := time.Now()
	if at.Sub(now) > skew {
		at = now
	}
	s.remember(key, at, now)
	if e, ok := s.cache.near.head(s.policy.Class, key); ok && !e.meta.Created.After(at) {
		s.cache.near.drop(s.policy.Class, key)
	}
	if s.shared() {
		s.cache.behind.add(0, func() { s.cache.far.Delete(key) }) // after a write that waits
	}
}

func (s *Space) remember(key string, at, now time.Time) {
	s.cache.drops.mu.Lock()
	defer s.cache.drops.mu.Unlock()
	s.drops.Store(s.drops.Load().with(key, at, now))
}

// droppedBefore is the instant up to which entries of the key are gone. It
// costs a hit nothing while nothing was dropped lately.
func (s *Space) droppedBefore(key string, now time.Time) time.Time {
	d := s.drops.Load()
	if d == nil {
		return time.Time{}
	}
	if !now.Before(d.until) {
		s.drops.CompareAndSwap(d, nil)
		return time.Time{}
	}
	return d.before(key, now)
}

// goneBefore is the instant up to which entries of the key are gone, whatever
// the policy says: by a hard purge, or by a drop.
func (s *Space) goneBefore(key string, now time.Time) time.Time {
	at := s.droppedBefore(key, now)
	if m := s.mark.Load(); m != nil {
		at = later(at, m.Hard)
	}
	return at
}

// birth is the time a load counts from that begins now. It follows all purges
// and drops that are known by then, although they come from other clocks.
func (s *Space) birth(key string, now time.Time) time.Time {
	last := s.goneBefore(key, now)
	if m := s.mark.Load(); m != nil {
		last = later(last, m.Soft)
	}
	if now.Truncate(time.Millisecond).After(last) || last.Sub(now) > skew {
		return now
	}
	return last.Add(time.Millisecond)
}

// overtaken tells whether a purge or a drop meant the entry.
func (s *Space) overtaken(key string, m *Meta, now time.Time) bool {
	if !m.Created.After(s.droppedBefore(key, now)) {
		return true
	}
	mark := s.mark.Load()
	return mark != nil && !m.oldest().After(mark.Hard)
}
