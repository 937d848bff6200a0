package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sundry/cache/far"
	"sundry/cache/policy"
)

// Settings are dated by the store's clock, which all instances share: a purge from a clock
// that is behind would spare what others have cached lately, and an instance whose clock is ahead would
// spare what it has cached itself. In force it is dated by the clock of its instance, as what is cached
// there is.

// maxSkew is how far the clock of this instance may be from that of the store before an
// operator is told, and orders that were carried out here are carried out again, dated anew.
const maxSkew = time.Second

// Now is the time by the store's clock.
func (r *Replicator) Now() time.Time { return time.Now().Add(time.Duration(r.clockOffset.Load())) }

// local is the time by the clock of this instance of one by the store's; zero stays zero.
func (r *Replicator) local(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return at.Add(-time.Duration(r.clockOffset.Load()))
}

// localPurges dates purges by the clock of this instance, and localOrders orders.
func (r *Replicator) localPurges(purges map[string]policy.Purge) map[string]policy.Purge {
	for target, p := range purges {
		purges[target] = policy.Purge{Soft: r.local(p.Soft), Hard: r.local(p.Hard)}
	}
	return purges
}

func (r *Replicator) localOrders(orders []Order) []Order {
	all := slices.Clone(orders)
	for i := range all {
		all[i].At = r.local(all[i].At)
	}
	return all
}

// readClock finds out how far the store's clock is ahead of this instance's. Where the
// store does not say so, what is known of it stays. However little that changes, what is in
// force is dated anew: it is to keep its order with what the store has been told of entries.
//
// It returns an error while the clock was never read: purges without a date may be of the future by this instance's clock, and it would
// lose what it loads. A store that refuses to tell its time is no error.
func (r *Replicator) readClock(ctx context.Context) error {
	offset, err := r.cfg.Store.ClockOffset(ctx)
	r.clockKnown.Store(err == nil)
	if err != nil && !r.clockRead.Load() && !errors.Is(err, far.ErrNoClock) {
		return fmt.Errorf("read the clock of the store: %w", err)
	}
	was := time.Duration(r.clockOffset.Load())
	if err != nil || r.clockRead.Swap(true) && offset == was {
		return nil
	}
	r.clockOffset.Store(int64(offset))
	r.noteExpiry()
	r.logClock(was, offset)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.datePending()
	drops := r.dropsToRepeat(offset)
	if r.loaded || r.current.Seq > 0 {
		r.purge(r.current, drops)
	}
	return nil
}

// dropsToRepeat returns the drops that were carried out here and are dated wrong by this offset: before the first read, none. The
// caller holds mu.
func (r *Replicator) dropsToRepeat(offset time.Duration) []Order {
	if (offset - r.ordersOffset).Abs() <= maxSkew {
		return nil
	}
	r.ordersOffset = offset
	return ordersOf(r.known.records, true) // pending ones were dated by the clock of this instance
}

func (r *Replicator) logClock(was, offset time.Duration) {
	switch {
	case offset.Abs() > maxSkew && (offset-was).Abs() > maxSkew:
		r.cfg.Log.Warn("the clock of this instance is not that of the store; settings are dated by the latter", "ahead", -offset)
	case offset.Abs() <= maxSkew && was.Abs() > maxSkew:
		r.cfg.Log.Info("the clock of this instance agrees with that of the store again")
	}
}
