package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"sundry/cache"
)

// verdict is how stored settings stand to those in force.
type verdict int

const (
	same   verdict = iota
	newer          // they hold what is in force, and changes made since
	lost           // there are none, though there were
	older          // they lack a change that is in force: the store went back in time
	behind         // they lack changes alone that were made while the store was away
)

// compare judges stored settings; nil stands for none.
func (s *Settings) compare(stored *Settings) verdict {
	switch {
	case stored == nil && s.Seq == 0:
		return same
	case stored == nil:
		return lost
	case s.Seq == 0:
		return newer
	case stored.Seq < s.Seq || !stored.remembers(s.head()):
		return older
	case stored.Seq > s.Seq:
		return newer
	case !s.equals(stored):
		return older // somebody wrote there past the rules
	}
	return same
}

// settle says how stored settings stand to those in force, and which hold. Where
// the store went back in time that is both together.
func (s *Settings) settle(stored *Settings, now time.Time) (verdict, *Settings) {
	switch v := s.compare(stored); v {
	case newer:
		return v, stored
	case older:
		return v, s.reconcile(stored, now)
	default:
		return v, s
	}
}

// sequence of settings that may be none.
func (s *Settings) sequence() int64 {
	if s == nil {
		return 0
	}
	return s.Seq
}

func (s *Settings) equals(o *Settings) bool {
	a, errA := json.Marshal(s)
	b, errB := json.Marshal(o)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// head is the last change; nil for none.
func (s *Settings) head() *Record {
	if len(s.Audit) == 0 {
		return nil
	}
	return &s.Audit[len(s.Audit)-1]
}

// remembers tells whether a change is among those that led to these settings. It
// counts as one when the audit begins later only.
func (s *Settings) remembers(r *Record) bool {
	if r == nil || slices.ContainsFunc(s.Audit, r.is) {
		return true
	}
	return len(s.Audit) == auditMax && !slices.ContainsFunc(s.Audit, func(o Record) bool { return o.Seq <= r.Seq })
}

// is tells whether two records are of one change. A number alone does not say:
// after a store went back, it is given twice.
func (r *Record) is(o Record) bool {
	return r.Seq == o.Seq && r.At.Equal(o.At) && r.By == o.By && r.Do == o.Do && r.Target == o.Target
}

// reconcile joins the settings in force with stored ones that do not hold them:
// of each target the later change stands, of purges and orders all do. What it
// makes lies beyond both, and remembers both.
func (s *Settings) reconcile(stored *Settings, now time.Time) *Settings {
	next := s.clone()
	next.Seq = max(s.Seq, stored.Seq) + 1
	for _, r := range stored.Audit {
		if !r.At.After(s.touched(r.Do, r.Target)) {
			continue
		}
		switch r.Do {
		case "knobs":
			v, set := stored.Knobs[r.Target]
			put(&next.Knobs, r.Target, v, set)
		case "breaker":
			v, set := stored.Breakers[r.Target]
			put(&next.Breakers, r.Target, v, set)
		}
	}
	for target, m := range stored.Purges {
		have := next.Purges[target]
		put(&next.Purges, target, cache.Purge{Soft: later(have.Soft, m.Soft), Hard: later(have.Hard, m.Hard)}, true)
	}
	next.Orders = joinOrders(s.Orders, stored.Orders, next.Seq)
	next.Audit = joinAudits(s.Audit, stored.Audit)
	next.Audit = last(append(next.Audit, Record{
		Seq: next.Seq, At: moment(now), By: "sundry", Do: "restore", Target: cache.AllEndpoints,
		Note: fmt.Sprintf("the store had gone back from change %d to %d", s.Seq, stored.Seq),
	}), auditMax)
	return next
}

// touched is when a target was last changed; zero when nobody remembers.
func (s *Settings) touched(do, target string) time.Time {
	for _, r := range slices.Backward(s.Audit) {
		if r.Do == do && r.Target == target {
			return r.At
		}
	}
	return time.Time{}
}

// joinAudits are the records of both, in the order of time.
func joinAudits(a, b []Record) []Record {
	all := slices.Clone(a)
	for _, r := range b {
		if !slices.ContainsFunc(a, r.is) {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(x, y Record) int { return x.At.Compare(y.At) })
	return all
}
