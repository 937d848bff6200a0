package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"sundry/cache/policy"
)

// relation of stored settings to those that are known to be stored. Pending changes are in neither.
type relation int

const (
	same       relation = iota
	advanced            // the stored ones include the known ones, and changes made since
	emptied             // nothing is stored, though something was
	rolledBack          // the stored ones lack a change that is known to be stored, as a restored backup does
	damaged             // what is stored cannot be read as settings
)

// relate returns how stored settings relate to the receiver, which is known to be stored;
// stored is nil if there are none.
func (s *Settings) relate(stored *Settings) relation {
	switch {
	case stored == nil && s.Seq == 0:
		return same
	case stored == nil:
		return emptied
	case s.Seq == 0:
		return advanced
	case stored.Seq < s.Seq || !stored.includes(s.lastRecord()):
		return rolledBack
	case stored.Seq > s.Seq:
		return advanced
	case !s.equals(stored):
		return rolledBack // the store was edited by hand
	}
	return same
}

// reconcile returns how stored settings relate to those that are known, and the settings to
// go on with: one of the two or, where the store was rolled back, both merged.
func (s *Settings) reconcile(stored *Settings, now time.Time) (relation, *Settings) {
	switch rel := s.relate(stored); rel {
	case advanced:
		return rel, stored
	case rolledBack:
		return rel, s.merge(stored, now)
	default:
		return rel, s
	}
}

// Sound reports whether stored settings can be read, and hold a change.
func Sound(raw []byte) bool {
	s, err := parse(raw)
	return err == nil && s.Seq > 0
}

// Merge returns stored settings with what only a copy of them has: the stored ones if they include the copy. The merge is dated by the
// later one of their last changes.
func Merge(copied, stored []byte) ([]byte, error) {
	s, err := parse(copied)
	if err != nil {
		return nil, fmt.Errorf("a copy of the settings: %w", err)
	}
	o, err := parse(stored)
	if err != nil {
		return nil, fmt.Errorf("stored settings: %w", err)
	}
	last := func(*Record) bool { return true }
	if rel, merged := s.reconcile(o, later(s.lastOf(last), o.lastOf(last))); rel == rolledBack {
		return json.Marshal(merged)
	}
	return stored, nil
}

// sequence returns the number of the last change; 0 for nil.
func (s *Settings) sequence() int64 {
	if s == nil {
		return 0
	}
	return s.Seq
}

func (s *Settings) equals(o *Settings) bool {
	if s == o { // nobody has written since: so it is most of the time
		return true
	}
	a, errA := json.Marshal(s)
	b, errB := json.Marshal(o)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// lastRecord returns the last record of the audit log; nil for none.
func (s *Settings) lastRecord() *Record {
	if len(s.Audit) == 0 {
		return nil
	}
	return &s.Audit[len(s.Audit)-1]
}

// includes reports whether a change is among those that led to these settings. A
// change that is older than a full audit log counts as included.
func (s *Settings) includes(r *Record) bool {
	if r == nil || slices.ContainsFunc(s.Audit, r.sameAs) {
		return true
	}
	return len(s.Audit) == maxAudit && !slices.ContainsFunc(s.Audit, func(o Record) bool { return o.Seq <= r.Seq })
}

// sameAs reports whether two records are of one change. Their numbers are not enough:
// after the store was rolled back, a number may be given twice.
func (r *Record) sameAs(o Record) bool {
	return r.Seq == o.Seq && r.At.Equal(o.At) && r.By == o.By && r.Do == o.Do && r.Target == o.Target
}

// merge joins the known settings with stored ones that do not include them: of
// each target the later change wins, and all purges and orders count. The result
// has a higher number than both and includes the history of both, so that every
// instance, whichever history it followed, finds it newer than its own.
func (s *Settings) merge(stored *Settings, now time.Time) *Settings {
	next := s.clone()
	next.Seq = max(s.Seq, stored.Seq) + 1
	for _, r := range stored.Audit {
		if !r.At.After(s.lastChanged(r.Do, r.Target)) {
			continue
		}
		switch r.Do {
		case DoCache:
			v, set := stored.Cache[r.Target]
			setOrDelete(&next.Cache, r.Target, v, set)
		case DoBreaker:
			v, set := stored.Breakers[r.Target]
			setOrDelete(&next.Breakers, r.Target, v, set)
		}
	}
	for target, p := range stored.Purges {
		have := next.Purges[target]
		have.Purge = policy.Purge{Soft: later(have.Soft, p.Soft), Hard: later(have.Hard, p.Hard)}
		setOrDelete(&next.Purges, target, have, true)
	}
	for endpoint, at := range stored.ByHand {
		next.setByHand(endpoint, at)
	}
	next.Orders = mergeOrders(s.Orders, stored.Orders, next.Seq)
	next.Audit = mergeAudits(s.Audit, stored.Audit)
	next.restored(now, fmt.Sprintf("the store was rolled back from change %d to %d", s.Seq, stored.Seq))
	next.carryUnknown(s, stored)
	return next
}

// hasPurgesOf reports whether these settings include all purges of the stored ones.
func (s *Settings) hasPurgesOf(stored *Settings) bool {
	if stored == nil {
		return true
	}
	for target, p := range stored.Purges {
		if have := s.Purges[target]; p.Soft.After(have.Soft) || p.Hard.After(have.Hard) {
			return false
		}
	}
	return true
}

// lastChanged returns when a target was last changed; zero when the audit log does
// not say.
func (s *Settings) lastChanged(do, target string) time.Time {
	return s.lastOf(func(r *Record) bool { return r.Do == do && r.Target == target })
}

// lastOf returns when the last of some changes was made; zero when the audit log does not say.
func (s *Settings) lastOf(is func(*Record) bool) time.Time {
	for _, r := range slices.Backward(s.Audit) {
		if is(&r) {
			return r.At
		}
	}
	return time.Time{}
}

// mergeAudits returns the records of both, in the order of time.
func mergeAudits(a, b []Record) []Record {
	all := slices.Clone(a)
	for _, r := range b {
		if !slices.ContainsFunc(a, r.sameAs) {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(x, y Record) int { return x.At.Compare(y.At) })
	return all
}
