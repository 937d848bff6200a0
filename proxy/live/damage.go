package live

import (
	"fmt"
	"time"

	"sundry/cache/policy"
)

// damageWait is for how long an instance that may not know what damaged settings were leaves
// them to such as do, which repair them within seconds.
const damageWait = time.Minute

// damage is that of the stored settings: what is there cannot be read as such.
type damage struct {
	since  time.Time // when it was first seen; zero: there is none
	inSync bool      // this instance was in sync then, and so knows what they were
}

// repairable returns the settings to store in the place of damaged ones, whose damage is the
// cause; an error as long as others may know better. The caller holds the store lock.
func (r *Replicator) repairable(known *Settings, now time.Time, cause error) (*Settings, error) {
	if r.damage.since.IsZero() {
		r.damage = damage{since: time.Now(), inSync: r.InSync()}
	}
	switch {
	case r.damage.inSync:
		return known, nil
	case time.Since(r.damage.since) < damageWait:
		return nil, fmt.Errorf("damaged, and another instance may know what they were: %w", cause)
	}
	return known.begunAnew(now), nil
}

// begunAnew returns the settings to go on with where nobody knows what those were that are
// lost: nor what was purged, so that everything from before is.
func (s *Settings) begunAnew(now time.Time) *Settings {
	next := s.clone()
	next.Seq++
	next.purge(Change{Target: policy.AllEndpoints, Hard: true}, auditTime(now))
	next.restored(now, "the stored settings were damaged, and no instance knew what they were: all that was cached before is purged")
	return next
}

// restored adds a record of what became of the store.
func (s *Settings) restored(now time.Time, note string) {
	s.Audit = newest(append(s.Audit, Record{
		Seq: s.Seq, At: auditTime(now), By: BySundry, Do: DoRestore, Target: policy.AllEndpoints, Note: note,
	}), maxAudit)
}
