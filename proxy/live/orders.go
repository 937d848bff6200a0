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
	// At is when the order was given: entries created later are not dropped.
	At     time.Time `json:"at,omitzero"`
	Do     string    `json:"do"`     // DoDrop or DoReset
	Target string    `json:"target"` // an endpoint, or a host
	Key    string    `json:"key,omitempty"`
}

// DueOrders returns the orders that an instance still has to carry out, the oldest
// first, if it has carried out all up to the change with the number done. Where more
// were given since then than the settings and their audit log hold, missed is the
// time before which some may be unknown; else it is zero.
//
// An instance that is starting carries out all drops that the settings hold, because
// Redis may still have the entries. Resets concern breakers that have counted
// failures, and its breakers have not.
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

// ordersFromAudit returns the orders after the change done and before another, from
// the audit log, which goes farther back than Orders.
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

// timeOf returns when a change was made; for one that is no longer in the audit log,
// when the last change was made.
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
	p := all[cache.AllEndpoints]
	p.Hard = later(p.Hard, before)
	setOrDelete(&all, cache.AllEndpoints, p, true)
	return all
}

func (o *Order) sameAs(p Order) bool {
	return o.Seq == p.Seq && o.At.Equal(p.At) && o.Do == p.Do && o.Target == p.Target && o.Key == p.Key
}

// mergeOrders returns the orders of both histories. Those that are in one of them
// only get the new number, so that every instance carries them out, whichever
// history it followed.
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
