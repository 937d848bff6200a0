package live

import (
	"fmt"
	"slices"
	"time"

	"sundry/upstreams/words"
)

// maxPending bounds the changes that wait for the store.
const maxPending = 100

// pendingChange was made while the store was unreachable: it is in force on this
// instance, and is stored for the others once the store can be reached.
type pendingChange struct {
	Change
	at time.Time
}

// errUnreachable means that the store cannot be read, and so that nobody knows
// whether it was written to.
var errUnreachable error = words.NewError("the store is unreachable", "连不上存储")

// canWait reports whether a change still means the same when it is stored later. A
// purge and a drop are about what was cached when they were made, and of two changes
// of cache settings or of a held breaker the later one wins. A reset is about the
// failures that a breaker has counted so far: by the time the other instances hear
// of it, they have counted others.
// What depends on what nobody else has changed cannot wait at all.
func (c *Change) canWait() bool { return c.Do != DoReset && c.Expected == nil }

// queue puts a change into force on this instance alone, until it can be stored.
// The caller holds the store lock.
func (r *Replicator) queue(c Change, at time.Time, cause error) (*Settings, error) {
	if !c.canWait() {
		return nil, cause
	}
	if r.Pending() >= maxPending {
		return nil, refuse(words.Errorf("%d changes are pending already", "待存储的更改已有 %d 项", maxPending), cause)
	}
	next, err := r.Settings().With(c, at)
	if err == nil {
		err = r.cfg.Check(next.ActiveCache(at))
	}
	if err != nil {
		return nil, refuse(ErrInvalid, err)
	}
	r.cfg.Log.Warn("change is in force on this instance only, until it can be stored", "do", c.Do, "target", c.Target, "by", c.By, "error", cause)
	if err := r.applyPending(next, pendingChange{c, at}); err != nil {
		return nil, refuse(words.Errorf("change %d is pending, and could not be applied here yet", "更改 %d 待存储，尚未能应用到本实例", next.Seq), err)
	}
	r.requestSync() // so that Run learns of a new expiry
	return next, nil
}

// applyPending puts settings into force that include one more pending change.
func (r *Replicator) applyPending(next *Settings, c pendingChange) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = next
	r.pending = append(r.pending, c)
	r.metrics.pending.Set(float64(len(r.pending)))
	var orders []Order
	if c.Do == DoDrop {
		orders = next.Orders[len(next.Orders)-1:]
	}
	r.purge(orders)
	return r.apply()
}

// Pending returns how many changes wait for the store.
func (r *Replicator) Pending() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.pending)
}

// AuditLog returns the settings in force, which hold the audit log, and the number
// of the last change that is stored: those after it are pending.
func (r *Replicator) AuditLog() (s *Settings, stored int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.pending) == 0 {
		return r.current, r.current.Seq
	}
	return r.current, r.base.Seq
}

// IsPending reports whether the change of a record waits for the store.
func (r *Replicator) IsPending(of Record) bool {
	s, stored := r.AuditLog()
	return of.Seq > stored && slices.ContainsFunc(s.Audit, of.sameAs)
}

// ranWhilePending returns a test for the orders of these changes: this instance
// carried them out while they were pending, and must not do so again once they are
// stored.
func ranWhilePending(changes []pendingChange) func(Order) bool {
	return func(o Order) bool {
		return slices.ContainsFunc(changes, func(c pendingChange) bool {
			return o.Do == c.Do && o.Target == c.Target && o.Key == c.Key && o.At.Equal(c.at)
		})
	}
}

// withPending returns the settings with pending changes made on top, by the rules of
// merge: a target that an operator changed later elsewhere stays as it was set there, and
// all purges and orders count. Changes that the settings include already, because
// only the store's answer was lost, are not made twice.
func (s *Settings) withPending(changes []pendingChange) (*Settings, error) {
	next := s
	for _, c := range changes {
		switch {
		case slices.ContainsFunc(s.Audit, c.isRecordedAs):
		case (c.Do == DoCache || c.Do == DoBreaker) && s.lastChangedByHand(c.Do, c.Target).After(c.at):
			next = next.withOvertaken(c)
		default:
			var err error
			if next, err = next.With(c.Change, c.at); err != nil {
				return nil, fmt.Errorf("pending change: %w", err)
			}
		}
	}
	return next, nil
}

// isRecordedAs reports whether a record is that of the change. Their numbers are not
// compared: a change may get another number when it is stored.
func (c pendingChange) isRecordedAs(r Record) bool {
	return r.At.Equal(c.at) && r.By == c.By && r.Do == c.Do && r.Target == c.Target && r.Note == c.note()
}

// withOvertaken returns the settings with the record of a pending change that came
// too late to have an effect.
func (s *Settings) withOvertaken(c pendingChange) *Settings {
	next := s.clone()
	next.Seq++
	next.Audit = newest(append(next.Audit, Record{
		Seq: next.Seq, At: c.at, By: c.By, Do: DoOvertaken, Target: c.Target,
		Note: "a pending change of " + c.Do + " was overtaken by a later change on another instance, which stays in force",
	}), maxAudit)
	return next
}
