package cache

import (
	"context"
	"time"

	"sundry/cache/policy"
)

// Confirmations of the entries of endpoints (see package confirm). An entry that is not fresh is confirmed too while no source may be called,
// and by a refresh that fails.

// confirm looks into Redis in the background if the copy of a key that is served is to be confirmed.
func (s *Space) confirm(ctx context.Context, key string, load Loader, created, now time.Time) {
	if !s.usesFar() || !s.cache.confirmed.Claim(s.cache.near.Hash(key), created, now) {
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
	if f.cache.confirmed.Begin() {
		defer f.cache.confirmed.End()
		f.compareVersions()
	} else {
		f.noteLook(false)
		f.looked = true
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
	case f.cache.confirmed.IsConfirmedBy(near.Hash(f.key), near.Hash(version)):
		f.looked = true
		f.cache.metrics.confirmed("newest")
	default:
		f.version = version
	}
}

// noteLook notes a look into Redis for the key.
func (f *fill) noteLook(answered bool) {
	near := f.cache.near
	f.cache.confirmed.Looked(near.Hash(f.key), answered, time.Now())
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
		f.cache.confirmed.Confirmed(near.Hash(f.key), near.Hash(f.version))
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
