package cache

import (
	"context"
	"sync/atomic"
	"time"

	"sundry/cache/policy"
)

// A copy in memory may be older than what another instance has written to Redis since, and Redis may have lost what was written. So a fresh
// copy that is served is confirmed: behind the response, Redis is looked into. What is newer there takes the place of the copy, and what
// Redis lacks is written again. So is a copy that is not fresh while no source may be called, and by a refresh that fails.

// confirmPlaces is how many keys have a place of their own at most.
const confirmPlaces = 1 << 16

// confirmations remember until when keys need no confirmation. Keys that share a place have it in turns: one needs none for ConfirmAgain
// after another one's. The zero value remembers none; it is safe for concurrent use.
type confirmations struct {
	places [confirmPlaces]struct {
		hash    atomic.Uint64 // of the key that has the place
		until   atomic.Int64  // Unix nanoseconds
		version atomic.Uint64 // hash of the version of its value in Redis; 0 means that it is not known
	}
}

// due reports whether a copy created then is to be confirmed.
func (c *confirmations) due(hash uint64, created, now time.Time) bool {
	place := &c.places[hash%confirmPlaces]
	until := place.until.Load()
	if place.hash.Load() != hash {
		until -= int64(policy.ConfirmEvery - policy.ConfirmAgain)
	}
	age := now.Sub(created)
	return now.UnixNano() >= until && (age >= policy.ConfirmEvery || age < 0)
}

// claim is due for one caller at a time: the others' copies need no confirmation then.
func (c *confirmations) claim(hash uint64, created, now time.Time) bool {
	place := &c.places[hash%confirmPlaces]
	until := place.until.Load()
	if !c.due(hash, created, now) || !place.until.CompareAndSwap(until, now.Add(policy.ConfirmEvery).UnixNano()) {
		return false
	}
	if place.hash.Swap(hash) != hash {
		place.version.Store(0)
	}
	return true
}

// looked notes a look into Redis.
func (c *confirmations) looked(hash uint64, answered bool, now time.Time) {
	place, until := &c.places[hash%confirmPlaces], now.Add(policy.ConfirmEvery)
	if !answered {
		until = now.Add(policy.ConfirmAgain)
	}
	place.until.Store(until.UnixNano())
	place.hash.Store(hash)
	place.version.Store(0)
}

// confirmed notes the version of the value in Redis by which a copy is the newest.
func (c *confirmations) confirmed(hash, version uint64) {
	if place := &c.places[hash%confirmPlaces]; place.hash.Load() == hash {
		place.version.Store(version)
	}
}

// isConfirmedBy reports whether the copy of a key is the newest by this version.
func (c *confirmations) isConfirmedBy(hash, version uint64) bool {
	place := &c.places[hash%confirmPlaces]
	return place.hash.Load() == hash && place.version.Load() == version
}

// confirm looks into Redis in the background if the copy of a key that is served is to be confirmed.
func (s *Space) confirm(ctx context.Context, key string, load Loader, created, now time.Time) {
	if !s.usesFar() || !s.cache.confirmed.claim(s.cache.near.Hash(key), created, now) {
		return
	}
	f := s.newFill(ctx, key, load, true)
	f.confirms = true
	if _, err := s.cache.flights.joinDetached(key, account{}, f.runConfirmation); err != nil {
		s.cache.log.Debug("copy not confirmed", "endpoint", s.name, "error", err)
	}
}

// runConfirmation is run for a copy that is to be confirmed. It does not look into Redis if too many others do, or if Redis has the same
// version as at the last look. A version is some bytes long, where an entry may have megabytes.
func (f *fill) runConfirmation(flight *flight) (*flightResult, error) {
	defer f.cache.confirming.Add(-1)
	if f.cache.confirming.Add(1) > policy.MostConfirming {
		f.noteLook(false)
		f.looked = true
	} else {
		f.compareVersions()
	}
	return f.run(flight)
}

// compareVersions reads the version of the value in Redis. If it is the same as at the last look, no other look is needed.
func (f *fill) compareVersions() {
	version, ok := f.cache.far.Version(f.cache.flights.base, f.key)
	near := f.cache.near
	switch {
	case !ok:
		f.looked = true
		f.noteLook(false)
		f.cache.metrics.confirmed("unknown")
	case f.cache.confirmed.isConfirmedBy(near.Hash(f.key), near.Hash(version)):
		f.looked = true
		f.cache.metrics.confirmed("newest")
	default:
		f.version = version
	}
}

// noteLook notes a look into Redis for the key.
func (f *fill) noteLook(answered bool) {
	near := f.cache.near
	f.cache.confirmed.looked(near.Hash(f.key), answered, time.Now())
}

// newestOf chooses between the copy and what the look into Redis has found. If that is nothing newer, a copy that is still fresh is served
// on: no source is called.
func (f *fill) newestOf(copied, found *flightResult) *flightResult {
	created := copied.entry.Meta.Created
	switch {
	case found != nil && found.entry.Meta.Created.After(created):
		f.cache.metrics.confirmed("newer")
		return found
	case f.farIsBehind(created):
		f.cache.metrics.confirmed("missing")
	case f.farCreated.IsZero():
		f.cache.metrics.confirmed("unknown")
	default:
		f.cache.metrics.confirmed("newest")
		near := f.cache.near
		f.cache.confirmed.confirmed(near.Hash(f.key), near.Hash(f.version))
	}
	if found == nil && f.stateOf(copied.entry, time.Now()) == policy.Fresh {
		f.writeBack()
		return copied
	}
	return found
}

// farIsBehind reports whether the look has found nothing in Redis, or an entry older than one created then.
func (f *fill) farIsBehind(created time.Time) bool {
	return f.farLacks || !f.farCreated.IsZero() && f.farCreated.Before(created)
}

// writeBack writes the copy to Redis if that has lost it, or has an older one.
func (f *fill) writeBack() {
	if f.copy == nil || !f.farIsBehind(f.copy.entry.Meta.Created) {
		return
	}
	e := f.copy.entry
	if e.Split() {
		whole, ok := f.cache.near.Join(f.policy.Class, f.key, e)
		if !ok {
			return
		}
		e = &whole
	}
	f.writeFar(f.key, e)
}
