package live

import (
	"maps"
	"slices"
	"time"

	"sundry/cache"
)

// Order is something that every instance does once.
type Order struct {
	Seq int64 `json:"seq"`
	// At is when it was given: entries created later are not dropped.
	At     time.Time `json:"at,omitzero"`
	Do     string    `json:"do"`     // DoDrop or DoReset
	Target string    `json:"target"` // an endpoint, or a host
	Key    string    `json:"key,omitempty"`
}

// DueOrders are those that an instance has to carry out whose last one was done,
// the oldest first. Where more were given since than are kept, missed is the time
// before which some may be unknown; else it is zero.
//
// An instance that starts has nothing in memory to be dropped, and breakers
// without a history; but Redis may hold what was dropped.
func (s *Settings) DueOrders(done int64, starting bool) (due []Order, missed time.Time) {
	if starting {
		done = 0
	} else if len(s.Orders) == maxOrders && s.Orders[0].Seq > done+1 {
		due, missed = s.ordersFromAudit(done, s.Orders[0].Seq)
	}
	for _, o := range s.Orders {
		if o.Seq > done && (!starting || o.Do == DoDrop) {
			due = append(due, o)
		}
	}
	for i := range due {
		if due[i].At.IsZero() {
			due[i].At = s.timeOf(due[i].Seq)
		}
	}
	return due, missed
}

// ordersFromAudit reads the orders between two changes out of the audit log,
// which reaches farther back than the orders do.
func (s *Settings) ordersFromAudit(done, before int64) (orders []Order, missed time.Time) {
	for _, r := range s.Audit {
		if r.Seq > done && r.Seq < before && (r.Do == DoDrop || r.Do == DoReset) {
			orders = append(orders, Order{r.Seq, r.At, r.Do, r.Target, r.Note})
		}
	}
	if len(s.Audit) == maxAudit && s.Audit[0].Seq > done+1 {
		missed = s.Audit[0].At
	}
	return orders, missed
}

// timeOf a change; of one that is no longer in the audit log, that of the last
// change.
func (s *Settings) timeOf(seq int64) time.Time {
	i := slices.IndexFunc(s.Audit, func(r Record) bool { return r.Seq == seq })
	switch {
	case i >= 0:
		return s.Audit[i].At
	case len(s.Audit) > 0:
		return s.lastRecord().At
	}
	return time.Time{}
}

// withPurgeBefore adds a hard purge of everything created before a time, unless
// that is zero.
func withPurgeBefore(purges map[string]cache.Purge, before time.Time) map[string]cache.Purge {
	if before.IsZero() {
		return purges
	}
	all := maps.Clone(purges)
	m := all[cache.AllEndpoints]
	m.Hard = later(m.Hard, before)
	setOrDelete(&all, cache.AllEndpoints, m, true)
	return all
}

func (o *Order) sameAs(p Order) bool {
	return o.Seq == p.Seq && o.At.Equal(p.At) && o.Do == p.Do && o.Target == p.Target && o.Key == p.Key
}

// mergeOrders are the orders of both histories. Those that only one of them knows
// get the new number, so that every instance carries them out, whichever history
// it followed.
func mergeOrders(a, b []Order, seq int64) []Order {
	var common, others []Order
	for _, o := range a {
		if slices.ContainsFunc(b, o.sameAs) {
			common = append(common, o)
		} else {
			others = append(others, o)
		}
	}
	for _, o := range b {
		if !slices.ContainsFunc(a, o.sameAs) {
			others = append(others, o)
		}
	}
	for i := range others {
		others[i].Seq = seq
	}
	return newest(append(common, others...), maxOrders)
}
