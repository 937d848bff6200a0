package cache

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

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

// Drop makes the entries of a key gone that were born at or before at, here and
// in Redis, and those of fills that began before it. The time is that of the
// order, the same on every instance; one ahead of this clock by more than a
// minute counts as now.
func (s *Space) Drop(key string, at time.Time) {
	now := time.Now()
	if at.Sub(now) > skew {
		at = now
	}
	s.remember(key, at, now)
	if e, ok := s.cache.near.head(s.policy.Class, key); ok && !e.meta.Born.After(at) {
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
