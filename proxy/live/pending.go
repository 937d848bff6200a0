package live

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// pendingMax bounds the changes that wait for the store.
const pendingMax = 100

// pending is a change that was made while the store could not be reached: it is
// in force on this instance, and is stored for the others once that can be.
type pending struct {
	Change
	at time.Time
}

// errNoStore means that nothing can be read from the store, whatever was
// written there.
var errNoStore = errors.New("the store cannot be reached")

// moment is a time as records keep it.
func moment(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// mayWait tells the changes that still mean the same later. A purge and a drop
// are about what was there when they were made, and of cache rules and breakers
// that are held the later change stands. What a breaker has learned by the time
// that the others would hear of it is another matter.
func (c *Change) mayWait() bool { return c.Do != "reset" }

// pend puts a change into force here alone. The caller has the turn.
func (t *Tuner) pend(c Change, at time.Time, cause error) (*Settings, error) {
	if !c.mayWait() {
		return nil, cause
	}
	if t.Waiting() >= pendingMax {
		return nil, fmt.Errorf("%w; %d changes wait for it already", cause, pendingMax)
	}
	next, err := t.Settings().With(c, at)
	if err == nil {
		err = t.cfg.Check(next.Live(at))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	t.cfg.Log.Warn("changed on this instance alone, until the settings can be kept", "do", c.Do, "target", c.Target, "by", c.By, "error", cause)
	if err := t.enforce(next, pending{c, at}); err != nil {
		return nil, fmt.Errorf("change %d waits for the store, and could not be applied here yet: %w", next.Seq, err)
	}
	t.notice() // for what ends sooner than anything before
	return next, nil
}

// enforce takes a pending change among those in force.
func (t *Tuner) enforce(next *Settings, c pending) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = next
	t.pending = append(t.pending, c)
	t.seen.pending.Set(float64(len(t.pending)))
	var orders []Order
	if c.Do == "drop" {
		orders = next.Orders[len(next.Orders)-1:]
	}
	return t.apply(orders)
}

// Waiting is how many changes wait for the store.
func (t *Tuner) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.pending)
}

// Audit are the settings in force with the number of the last change that is
// kept: those after it wait for the store.
func (t *Tuner) Audit() (s *Settings, kept int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.pending) == 0 {
		return t.now, t.now.Seq
	}
	return t.now, t.base.Seq
}

// Waits tells whether a record is of a change that waits for the store.
func (t *Tuner) Waits(r Record) bool {
	s, kept := t.Audit()
	return r.Seq > kept && slices.ContainsFunc(s.Audit, r.is)
}

// carriedOut tells an order that was pending: this instance did it at once.
func carriedOut(changes []pending) func(Order) bool {
	return func(o Order) bool {
		return slices.ContainsFunc(changes, func(c pending) bool {
			return o.Do == c.Do && o.Target == c.Target && o.Key == c.Key && o.At.Equal(c.at)
		})
	}
}

// replay is the settings with pending changes, as reconcile has it: of a target
// that was changed later elsewhere, that change stands, and purges and orders all
// do. Those that the settings know already, because only the answer of the store
// was lost, are not made twice.
func (s *Settings) replay(changes []pending) (*Settings, error) {
	next := s
	for _, c := range changes {
		switch {
		case slices.ContainsFunc(s.Audit, c.is):
		case (c.Do == "knobs" || c.Do == "breaker") && s.touched(c.Do, c.Target).After(c.at):
			next = next.overtaken(c)
		default:
			var err error
			if next, err = next.With(c.Change, c.at); err != nil {
				return nil, fmt.Errorf("pending change: %w", err)
			}
		}
	}
	return next, nil
}

// is tells whether a record is of the change.
func (c pending) is(r Record) bool {
	return r.At.Equal(c.at) && r.By == c.By && r.Do == c.Do && r.Target == c.Target && r.Note == c.note()
}

// overtaken is the settings with a record alone of a change that no longer
// counts.
func (s *Settings) overtaken(c pending) *Settings {
	next := s.clone()
	next.Seq++
	next.Audit = last(append(next.Audit, Record{
		Seq: next.Seq, At: c.at, By: c.By, Do: "overtaken", Target: c.Target,
		Note: "the " + c.Do + " set here while the store was away were changed later elsewhere, and that stands",
	}), auditMax)
	return next
}
