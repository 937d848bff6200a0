package cache

import (
	"context"
	"sync/atomic"
	"time"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

// A copy in memory may be older than what another instance has written to Redis since, and Redis may have lost what was written. So a fresh
// copy that is served is confirmed: behind the response, Redis is looked into. What is newer there takes the place of the copy, and what
// Redis lacks is written again.

// confirmPlaces is how many keys have a place of their own at most.
const confirmPlaces = 1 << 16

// confirmations remember until when keys need no confirmation. Keys that share a place have it in turns: one needs none for ConfirmAgain
// after another one's. The zero value remembers none; it is safe for concurrent use.
type confirmations struct {
	places [confirmPlaces]struct {
		hash  atomic.Uint64 // of the key that has the place
		until atomic.Int64  // Unix nanoseconds
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
	place.hash.Store(hash)
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
}

// confirm looks into Redis in the background if the copy of a key that is served is to be confirmed.
func (s *Space) confirm(ctx context.Context, key string, load Loader, created, now time.Time) {
	if !s.usesFar() || !s.cache.near.confirmed.claim(s.cache.near.hot.hash(key), created, now) {
		return
	}
	f := s.newFill(ctx, key, load, true)
	f.confirms = true
	if _, err := s.cache.flights.joinDetached(key, account{}, f.runConfirmation); err != nil {
		s.cache.log.Debug("copy not confirmed", "endpoint", s.name, "error", err)
	}
}

// runConfirmation is run for a copy that is to be confirmed. It does not look into Redis if too many others do.
func (f *fill) runConfirmation(flight *flight) (*flightResult, error) {
	defer f.cache.confirming.Add(-1)
	if f.cache.confirming.Add(1) > policy.MostConfirming {
		f.confirms = false
		f.looked(false)
	}
	return f.run(flight)
}

// looked notes a look into Redis for the key.
func (f *fill) looked(answered bool) {
	near := f.cache.near
	near.confirmed.looked(near.hot.hash(f.key), answered, time.Now())
}

// newestOf chooses between the copy and what the look into Redis has found. If that is nothing newer, a copy that is still fresh is served
// on: no source is called.
func (f *fill) newestOf(copied, found *flightResult) *flightResult {
	created := copied.entry.Meta.Created
	switch {
	case found != nil && found.entry.Meta.Created.After(created):
		f.cache.metrics.confirmed("newer")
		return found
	case f.farLacks, !f.farCreated.IsZero() && f.farCreated.Before(created):
		f.cache.metrics.confirmed("missing")
		f.writeBack(copied.entry)
	case f.farCreated.IsZero():
		f.cache.metrics.confirmed("unknown")
	default:
		f.cache.metrics.confirmed("newest")
	}
	if found != nil && found.entry.Meta.Created.Equal(created) {
		return found
	}
	if f.stateOf(copied.entry, time.Now()) == policy.Fresh {
		return copied
	}
	return found
}

// writeBack writes the near tier's copy of an entry that Redis has lost, or of which it has an older one.
func (f *fill) writeBack(e *entry.Entry) {
	if e.Split() {
		whole, ok := f.cache.near.join(f.policy.Class, f.key, e)
		if !ok {
			return
		}
		e = &whole
	}
	f.writeFar(f.key, e)
}
