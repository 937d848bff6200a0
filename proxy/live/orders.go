package live

import (
	"maps"
	"slices"
	"time"

	"sundry/cache"
)

// Order is something to do once.
type Order struct {
	Seq int64 `json:"seq"`
	// At is when it was given: entries that were made later are not meant.
	At     time.Time `json:"at,omitzero"`
	Do     string    `json:"do"`     // drop (an entry) or reset (a breaker)
	Target string    `json:"target"` // a host, or an endpoint
	Key    string    `json:"key,omitempty"`
}

// Due are the orders that an instance has to carry out which did so up to done,
// the oldest first. Where more came meanwhile than are remembered, missed is
// until when some may be unknown; else zero.
//
// One that starts has nothing in memory that an order could be about, and
// breakers that know nothing; but Redis may hold what was dropped.
func (s *Settings) Due(done int64, starts bool) (due []Order, missed time.Time) {
	if starts {
		done = 0
	} else if len(s.Orders) == orderMax && s.Orders[0].Seq > done+1 {
		due, missed = s.recall(done, s.Orders[0].Seq)
	}
	for _, o := range s.Orders {
		if o.Seq > done && (!starts || o.Do == "drop") {
			due = append(due, o)
		}
	}
	for i := range due {
		if due[i].At.IsZero() {
			due[i].At = s.when(due[i].Seq)
		}
	}
	return due, missed
}

// recall reads orders between two changes out of the audit, which reaches
// farther back than the orders do.
func (s *Settings) recall(done, before int64) (orders []Order, missed time.Time) {
	for _, r := range s.Audit {
		if r.Seq > done && r.Seq < before && (r.Do == "drop" || r.Do == "reset") {
			orders = append(orders, Order{r.Seq, r.At, r.Do, r.Target, r.Note})
		}
	}
	if len(s.Audit) == auditMax && s.Audit[0].Seq > done+1 {
		missed = s.Audit[0].At
	}
	return orders, missed
}

// when a change was made; for one that nobody remembers, when the last one was.
func (s *Settings) when(seq int64) time.Time {
	i := slices.IndexFunc(s.Audit, func(r Record) bool { return r.Seq == seq })
	switch {
	case i >= 0:
		return s.Audit[i].At
	case len(s.Audit) > 0:
		return s.head().At
	}
	return time.Time{}
}

// withHard are marks with a hard purge of everything until a time beside them;
// the marks themselves when that is zero.
func withHard(marks map[string]cache.Purge, until time.Time) map[string]cache.Purge {
	if until.IsZero() {
		return marks
	}
	all := maps.Clone(marks)
	m := all[cache.AllEndpoints]
	m.Hard = later(m.Hard, until)
	put(&all, cache.AllEndpoints, m, true)
	return all
}

func (o *Order) is(p Order) bool {
	return o.Seq == p.Seq && o.At.Equal(p.At) && o.Do == p.Do && o.Target == p.Target && o.Key == p.Key
}

// joinOrders are those of both. Those that not both know get the new number, so
// that every instance carries them out, whichever it followed.
func joinOrders(a, b []Order, seq int64) []Order {
	var common, others []Order
	for _, o := range a {
		if slices.ContainsFunc(b, o.is) {
			common = append(common, o)
		} else {
			others = append(others, o)
		}
	}
	for _, o := range b {
		if !slices.ContainsFunc(a, o.is) {
			others = append(others, o)
		}
	}
	for i := range others {
		others[i].Seq = seq
	}
	return last(append(common, others...), orderMax)
}
