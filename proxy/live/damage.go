package live

import (
	"crypto/rand"
	"fmt"
	"time"

	"sundry/cache/policy"
)

// damageWait is for how long an instance that may not know what damaged settings were leaves
// them to those that do, which repair them within seconds.
const damageWait = time.Minute

// damage is that of the stored settings: they cannot be read as such.
type damage struct {
	since  time.Time // when it was first seen; zero means that there is none
	inSync bool      // this instance was in sync then, or has a copy, and so knows what they were
}

// repairable returns the settings to store in the place of damaged ones, whose damage is the
// cause; an error as long as others may know better. The caller holds the store lock.
func (r *Replicator) repairable(known *Settings, cause error) (*Settings, error) {
	if r.damage.since.IsZero() {
		r.damage = damage{since: time.Now(), inSync: r.InSync() || r.hasCopyAlone()}
	}
	const note = "the stored settings were damaged"
	switch {
	case r.damage.inSync:
		return known.withNote(rand.Text(), note, r.Now()), nil
	case time.Since(r.damage.since) < damageWait:
		return nil, fmt.Errorf("damaged, and another instance may know what they were: %w", cause)
	}
	next, err := known.With(Change{ID: rand.Text(), By: BySundry, Do: DoPurge, Target: policy.AllEndpoints, Hard: true}, r.Now())
	if err != nil {
		return nil, err // cannot happen: a purge has no mistakes
	}
	return next.withNote(rand.Text(), note+", and no instance knew what they were: all that was cached before is purged", r.Now()), nil
}
