package live

import (
	"fmt"
	"slices"
	"time"

	"sundry/cache/policy"
)

// maxPending bounds the changes that wait for the store: see bounded.
const maxPending = 100

// pendingChange is in force on this instance, and not stored yet. The copy of the settings has its JSON.
type pendingChange struct {
	Change
	At time.Time `json:"at"`
	// Made is when it was made, by the clock of this instance, whatever that is set to since; zero means that At is by the store's clock,
	// and that another process made it.
	Made time.Time `json:"made,omitzero"`
	// Known is when its target was last changed by hand before it, as far as was known here.
	Known time.Time `json:"known,omitzero"`
	// waited means that it could not be stored when it was made.
	waited bool
}

// enforce puts a change into force on this instance alone, until it is stored. With err it was
// a mistake, and nothing was changed; failed is what could not be applied.
func (r *Replicator) enforce(c Change) (of Record, failed, err error) {
	made, now := time.Now(), auditTime(r.Now())
	next, err := r.Settings().With(c, now)
	if err == nil {
		err = r.check(c, next, now) // takes long, and so without mu
	}
	if err != nil {
		return Record{}, nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if of, err = r.current.recordFor(&c, now); err != nil {
		return Record{}, nil, err
	}
	p := pendingChange{Change: c, At: now, Made: made, Known: r.current.last(of.subject(), isByHand).At}
	r.current = r.current.and(of)
	r.setPending(bounded(append(slices.Clone(r.pending), p)))
	r.purge(r.current, ordersOf([]Record{of}, false))
	return of, r.apply(), nil
}

// setPending replaces the pending changes. The caller holds mu.
func (r *Replicator) setPending(changes []pendingChange) {
	r.pending = changes
	r.metrics.pending.Set(float64(len(changes)))
}

// datePending dates what is pending by the store's clock, which may not have been known when it
// was made. The caller holds mu.
func (r *Replicator) datePending() {
	next, dated := slices.Clone(r.pending), false
	for i := range next {
		c := &next[i]
		if at := r.dateOf(c); at.Sub(c.At).Abs() > time.Millisecond { // of which dates have no part
			c.At, dated = at, true
		}
	}
	if !dated {
		return
	}
	if current, err := r.known.withPending(next); err == nil { // there is none: they were made before
		r.current, r.pending = current, next
	}
}

// dateOf returns when a change was made, by the store's clock. None that an earlier process made is of the future: a damaged
// file must not purge what will be cached.
func (r *Replicator) dateOf(c *pendingChange) time.Time {
	now := r.Now()
	switch {
	case !c.Made.IsZero():
		return auditTime(now.Add(-time.Since(c.Made)))
	case c.At.After(now.Add(maxSkew)):
		return auditTime(now)
	}
	return c.At
}

// bounded returns the changes without such as later ones cover, where there are more than
// maxPending. Where none is covered, drops become a purge of their endpoint: so only as many
// are left over as there are hosts, endpoints and their settings.
func bounded(changes []pendingChange) []pendingChange {
	for len(changes) > maxPending {
		covered := slices.IndexFunc(changes, func(c pendingChange) bool {
			return slices.ContainsFunc(changes, func(by pendingChange) bool { return by.covers(&c) })
		})
		drop := slices.IndexFunc(changes, func(c pendingChange) bool { return c.Do == DoDrop })
		switch {
		case covered >= 0:
			changes = slices.Delete(changes, covered, covered+1)
		case drop >= 0:
			c := &changes[drop]
			c.Do, c.Key, c.Hard = DoPurge, "", true
		default:
			return changes
		}
	}
	return changes
}

// covers reports whether a change leaves nothing of the effect of another one, from before it.
func (c *pendingChange) covers(o *pendingChange) bool {
	switch {
	case c.ID == o.ID || c.At.Before(o.At):
		return false
	case c.Do == DoPurge && c.Hard && (c.Target == o.Target || c.Target == policy.AllEndpoints) && (o.Do == DoDrop || o.Do == DoPurge):
		return true
	}
	return c.Do == o.Do && c.Target == o.Target && c.Key == o.Key && c.Hard == o.Hard && c.setsAllOf(o)
}

// setsAllOf reports whether a change leaves none of the cache settings of another one of the same endpoint.
func (c *pendingChange) setsAllOf(o *pendingChange) bool {
	if c.Set == nil {
		return true
	}
	for name := range o.Set {
		if _, ok := c.Set[name]; !ok {
			return false
		}
	}
	return o.Set != nil
}

// setWaited notes that what is pending could not be stored when it was made.
func (r *Replicator) setWaited() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = slices.Clone(r.pending) // others may be reading it
	for i := range r.pending {
		r.pending[i].waited = true
		r.clockKnown.Store(false)
	}
}

// Pending returns how many changes wait for the store.
func (r *Replicator) Pending() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.pending)
}

// AuditLog returns the settings in force, which hold the audit log, and the IDs of the records that are pending.
func (r *Replicator) AuditLog() (s *Settings, pending map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pending = map[string]bool{}
	for _, c := range r.pending {
		pending[c.ID] = true
	}
	return r.current, pending
}

// recordOf returns the record of a change as it is now, and whether it waits for the store.
func (r *Replicator) recordOf(made Record) (now Record, pending bool) {
	s, waiting := r.AuditLog()
	if now, ok := s.record(made.ID); ok {
		return now, waiting[made.ID]
	}
	return made, waiting[made.ID]
}

// withPending returns the settings with pending changes made on top, but for those that they hold already, because only the store's
// reply was lost. One that could not be stored when it was made stays in the past if an operator changed the same target later elsewhere;
// all purges and one-off operations count.
func (s *Settings) withPending(changes []pendingChange) (*Settings, error) {
	next := s
	for _, c := range changes {
		if _, stored := s.record(c.ID); stored {
			continue
		}
		r, err := next.recordFor(&c.Change, c.At)
		if err != nil {
			return nil, fmt.Errorf("pending change: %w", err)
		}
		if r.lasts() && r.Do != DoPurge && c.isOvertakenBy(s.last(r.subject(), isByHand).At) {
			r.At = c.At
		}
		next = next.and(r)
	}
	return next, nil
}

// isOvertakenBy reports whether a change of the same target, from elsewhere, is later.
func (c *pendingChange) isOvertakenBy(other time.Time) bool {
	return c.waited && other.After(policy.Later(c.At, c.Known))
}

// lacking returns the changes that the settings do not hold, beside those that they are known to include.
func (s *Settings) lacking(changes, included []pendingChange) (lacking []pendingChange) {
	for _, c := range changes {
		known := slices.ContainsFunc(included, func(i pendingChange) bool { return i.ID == c.ID })
		if _, stored := s.record(c.ID); !stored && !known {
			lacking = append(lacking, c)
		}
	}
	return lacking
}
