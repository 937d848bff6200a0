package live

import (
	"slices"
	"time"

	"sundry/cache/policy"
)

// Order is something that every instance does once.
type Order struct {
	Seq int64 `json:"seq"`
	// At is when the order was given: entries created later are not dropped.
	At     time.Time `json:"at,omitzero"`
	Do     string    `json:"do"`     // DoDrop or DoReset
	Target string    `json:"target"` // an endpoint, or a host
	Key    string    `json:"key,omitempty"`

	Unknown Unknown `json:"-"`
}

// DueOrders returns the orders that an instance still has to carry out, the oldest
// first, if it has carried out all up to the change with the number done. Where the settings
// and their audit log do not hold all since then, missed is the time before which some may be
// unknown; else it is zero.
//
// An instance that is starting carries out all drops that are known, because Redis, or what
// it has kept on its disk, may still have the entries. Resets concern breakers that have
// counted failures, and its breakers have not.
func (s *Settings) DueOrders(done int64, starting bool) (due []Order, missed time.Time) {
	if starting {
		done = 0
	}
	known, first := s.knownOrders()
	if first.Seq > done+1 {
		missed = first.At
	}
	for _, o := range known {
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

// knownOrders returns all orders that the settings and their audit log hold, and the change
// from which on there are no others; zero: there never were.
func (s *Settings) knownOrders() (orders []Order, first Order) {
	if len(s.Orders) < maxOrders {
		return s.Orders, first
	}
	if first = s.Orders[0]; first.At.IsZero() {
		first.At = s.timeOf(first.Seq)
	}
	for _, r := range s.Audit {
		if r.Seq < first.Seq && (r.Do == DoDrop || r.Do == DoReset) {
			orders = append(orders, Order{Seq: r.Seq, At: r.At, Do: r.Do, Target: r.Target, Key: r.Note})
		}
	}
	switch {
	case len(s.Audit) < maxAudit:
		first = Order{}
	case s.Audit[0].Seq < first.Seq:
		first = Order{Seq: s.Audit[0].Seq, At: s.Audit[0].At}
	}
	return append(orders, s.Orders...), first
}

// noteMissed notes that orders given before a time may have been missed; zero: none were. What
// was cached here before it is then purged. An instance that has just started has cached
// nothing: only what it kept on its disk, and what it finds in Redis, may be of before. The
// caller holds mu.
func (r *Replicator) noteMissed(missed time.Time) {
	if missed.IsZero() {
		return
	}
	if !r.loaded {
		r.unknown = missed
		if r.local(missed).Before(r.started) {
			if r.cfg.Unknown != nil {
				r.cfg.Unknown(r.local(missed))
			}
			return
		}
	}
	r.missed = missed
	r.cfg.Log.Warn("some orders were missed and are no longer known; all that was cached before is purged here", "before", missed, "last_order", r.ordersDone)
}

// DropsKnownSince returns the time from which on this instance has known, at its start, what
// was ordered to be dropped; zero: since ever. What it kept from before may have been dropped.
func (r *Replicator) DropsKnownSince() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.local(r.unknown)
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

// purgesSince returns the purges, with a hard one of everything created before a time, unless
// that is zero.
func (s *Settings) purgesSince(missed time.Time) map[string]policy.Purge {
	all := make(map[string]policy.Purge, len(s.Purges)+1)
	for target, p := range s.Purges {
		all[target] = p.Purge
	}
	if !missed.IsZero() {
		p := all[policy.AllEndpoints]
		p.Hard = later(p.Hard, missed)
		all[policy.AllEndpoints] = p
	}
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
