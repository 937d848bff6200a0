// Package purged remembers when keys were last purged: what was created before, such as by a fill that began before the purge, must not be
// used or stored.
package purged

import (
	"sync"
	"sync/atomic"
	"time"

	"sundry/cache/policy"
)

const (
	// Life is the usual life of a purge: a fill that began before it, with its write to Redis, takes less.
	Life = 10 * time.Minute
	// Limit is the number of keys that are remembered. By the default of limits.rate, one client can make 30,200 purges by unsafe requests
	// in Life.
	Limit = 1 << 16
)

// Keys holds the time of the last purge of each key, by the hash of the key. Beyond Limit, the key with the earliest purge is forgotten.
// The zero value is ready to use. Keys is safe for concurrent use, and reads take no lock.
type Keys struct {
	purges    sync.Map                  // purge by hash
	until     atomic.Pointer[time.Time] // from then on, no purge has an effect; nil means that there was none
	forgotten atomic.Pointer[time.Time]

	mu    sync.Mutex // held by writers
	order []place    // one for each key in purges
}

// purge is the last purge of a key. It has an effect until the end of its life.
type purge struct{ at, until time.Time }

// place is the place of a key in the order in which keys are forgotten. If the key was purged again since, its purge ends later.
type place struct {
	hash  uint64
	until time.Time
}

// Add records a purge of a key, which has an effect for a time that begins now. A later purge of the same key remains the last one.
func (k *Keys) Add(hash uint64, at, now time.Time, life time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := purge{at, now.Add(life)}
	before, known := k.find(hash)
	p.at, p.until = policy.Later(before.at, p.at), policy.Later(before.until, p.until)
	k.purges.Store(hash, p)
	if !p.until.Before(orZero(k.until.Load())) {
		k.until.Store(&p.until)
	}
	if !known {
		k.order = append(k.order, place{hash, p.until})
	}
	for len(k.order) > Limit || len(k.order) > 0 && !now.Before(k.order[0].until) {
		k.forgetFirst(now)
	}
}

// forgetFirst forgets the first key in the order, or puts it at the end if it was purged again.
func (k *Keys) forgetFirst(now time.Time) {
	first := k.order[0]
	k.order = k.order[1:]
	p, _ := k.find(first.hash)
	if p.until.After(first.until) && now.Before(p.until) {
		k.order = append(k.order, place{first.hash, p.until})
		return
	}
	k.purges.Delete(first.hash)
	if now.Before(p.until) && p.at.After(k.Forgotten()) {
		k.forgotten.Store(&p.at)
	}
}

func (k *Keys) find(hash uint64) (purge, bool) {
	value, ok := k.purges.Load(hash)
	if !ok {
		return purge{}, false
	}
	return value.(purge), true
}

// Any reports whether a purge has an effect. It costs less than Last.
func (k *Keys) Any(now time.Time) bool {
	return now.Before(orZero(k.until.Load()))
}

// Last returns the time of the last purge of a key. The zero time means that no purge of the key has an effect.
func (k *Keys) Last(hash uint64, now time.Time) time.Time {
	if !k.Any(now) {
		return time.Time{}
	}
	if p, _ := k.find(hash); now.Before(p.until) {
		return p.at
	}
	return time.Time{}
}

// Forgotten returns the time of the latest purge that was forgotten at Limit although it had an effect. Before that time, any key may have
// been purged. The zero time means that there is no such purge.
func (k *Keys) Forgotten() time.Time { return orZero(k.forgotten.Load()) }

// Redate changes the times of all purges, because the clock was set back.
func (k *Keys) Redate(at func(time.Time) time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, place := range k.order {
		p, _ := k.find(place.hash)
		p.at = at(p.at)
		k.purges.Store(place.hash, p)
	}
	if forgotten := k.forgotten.Load(); forgotten != nil {
		again := at(*forgotten)
		k.forgotten.Store(&again)
	}
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
