package live

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"sundry/cache/far"
	"sundry/metrics/panics"
)

// errConflict means that another instance stored a change first.
var errConflict = errors.New("other changes were stored at the same time")

// reading is what was read from the store.
type reading struct {
	raw     []byte
	stored  *Settings // to go on with, where raw is damaged
	damaged bool
	lost    int             // records that were stored and that the store lacks
	pending []pendingChange // that the next settings include
}

// exchange makes the settings here and in the store the same: both hold what either knew, and a change unless that is nil. What the store
// has is in force even if nothing can be stored. errConflict asks for another try.
func (r *Replicator) exchange(ctx context.Context, c *Change) (record Record, err error) {
	defer r.cfg.Panics.Catch(panics.Settings, &err)
	inSync := false
	defer func() {
		if inSync || !gaveUp(ctx) {
			r.setInSync(inSync)
		}
	}()
	v, err := r.read(ctx)
	if err != nil {
		r.storeFailed(ctx)
		return record, err
	}
	if !v.damaged && (!r.isStored(v.raw) || !r.isApplied()) {
		err = r.adopt(v.stored, v.raw, nil)
	}
	next := r.nextTo(v)
	if c != nil {
		if record, err = next.recordFor(c, r.Now()); err == nil {
			next = next.and(record)
			err = r.check(*c, next, r.Now())
		}
	}
	inSync = !v.damaged || r.damage.inSync
	switch {
	case c != nil && err != nil:
		return record, err
	case v.damaged || len(next.without(v.stored)) > 0:
		return record, r.write(ctx, v, next)
	case len(v.pending) > 0: // all are older than what the set still holds
		return record, r.adopt(v.stored, v.raw, v.pending)
	}
	return record, err
}

// read reads the store. Damaged settings are an error while it is not time to repair them.
func (r *Replicator) read(ctx context.Context) (*reading, error) {
	if !r.clockKnown.Load() { // what is pending is to be dated before it is stored
		if err := r.readClock(ctx); err != nil {
			return nil, err
		}
	}
	raw, err := r.cfg.Store.Load(ctx)
	if err != nil && !errors.Is(err, far.ErrNotAValue) {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	v := &reading{raw: raw}
	known := r.stored()
	switch {
	case err == nil && r.isStored(raw):
		v.stored = known // unchanged, as it is most of the time
	case err == nil:
		v.stored, err = parse(raw)
	}
	if err == nil {
		r.damage = damage{}
		return v, nil
	}
	v.damaged = true
	if v.stored, err = r.repairable(known, err); err != nil {
		return nil, fmt.Errorf("stored settings: %w", err)
	}
	return v, nil
}

// stored returns all settings that are known to have been stored.
func (r *Replicator) stored() *Settings {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known
}

// isStored reports whether raw is the JSON of all that is known to have been stored.
func (r *Replicator) isStored(raw []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.complete && bytes.Equal(raw, r.raw)
}

// isApplied reports whether what was adopted last is in force, all of it.
func (r *Replicator) isApplied() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.applyErr == nil
}

// adopt puts stored settings into force, on top of what was stored before and with what is pending beside the changes that they include. Their
// JSON is raw.
func (r *Replicator) adopt(stored *Settings, raw []byte, included []pendingChange) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.known.merge(stored)
	pending := known.lacking(r.pending, included)
	next, err := known.withPending(pending)
	if err != nil {
		return err // cannot happen: they were made before
	}
	r.noteMissed(stored)
	r.purge(next, ordersOf(next.without(r.current), !r.loaded)) // if it panics, the next try carries them out
	r.current, r.known, r.raw, r.complete = next, known, raw, len(known.without(stored)) == 0
	r.loaded, r.applyErr = true, errUnfinished
	r.setPending(pending)
	r.setInSync(true)
	return r.apply()
}

// nextTo returns the settings to store after a reading: those in force here, with a record if the store had lost some.
func (r *Replicator) nextTo(v *reading) *Settings {
	known := r.stored()
	v.lost = len(known.without(v.stored))
	switch {
	case v.damaged:
		known = known.merge(v.stored)
	case v.lost > 0 && v.stored.Seq == 0:
		known = known.withNote(rand.Text(), "the store was emptied", r.Now())
	case v.lost > 0:
		known = known.withNote(rand.Text(), fmt.Sprintf("the store was rolled back from change %d to %d", known.Seq, v.stored.Seq), r.Now())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	v.pending = r.pending
	next, err := known.withPending(r.pending)
	if err != nil {
		return known // cannot happen: they were made before
	}
	return next
}

// write stores the next settings in the place of what was read, and puts them into force. errConflict means that others have stored
// meanwhile.
func (r *Replicator) write(ctx context.Context, v *reading, next *Settings) error {
	value, err := next.encode()
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	ok, err := r.replaceStored(ctx, v, value)
	switch {
	case err != nil:
		r.storeFailed(ctx)
		return v.unwritable(err)
	case !ok:
		return errConflict
	}
	r.reportRestore(v, next)
	return r.adopt(next, value, v.pending)
}

// storeFailed notes that the store could not be read or written, unless the caller has given up.
func (r *Replicator) storeFailed(ctx context.Context) {
	if !gaveUp(ctx) {
		r.setWaited()
	}
}

// replaceStored stores a value in the place of what was read, and reports whether that was still
// there. When the store's reply is lost, it reads what is stored.
func (r *Replicator) replaceStored(ctx context.Context, v *reading, value []byte) (ok bool, err error) {
	if v.damaged {
		ok, err = r.cfg.Store.Repair(ctx, v.raw, value)
	} else {
		ok, err = r.cfg.Store.CompareAndSwap(ctx, v.raw, value)
	}
	if err == nil {
		return ok, nil
	}
	if have, unread := r.cfg.Store.Load(ctx); unread == nil && bytes.Equal(have, value) {
		return true, nil
	}
	return false, err
}

// unwritable says what could not be stored.
func (v *reading) unwritable(err error) error {
	if v.damaged {
		return fmt.Errorf("the stored settings are damaged, and cannot be written to: %w", err)
	}
	return fmt.Errorf("changes cannot be stored: %w", err)
}

// reportRestore counts and logs that lost or damaged settings, or pending changes, were stored.
func (r *Replicator) reportRestore(v *reading, next *Settings) {
	switch {
	case v.damaged:
		r.metrics.repairs.Inc()
		r.cfg.Log.Error("the stored settings were damaged; they are kept under another name, and the settings in force here are stored again", "seq", next.Seq)
	case v.lost > 0:
		r.metrics.restores.Inc()
		r.cfg.Log.Warn("the store was rolled back or emptied; the settings in force here are stored again", "stored", v.stored.Seq, "seq", next.Seq)
	}
	if n := len(v.pending); n > 0 {
		r.cfg.Log.Info("pending changes are stored", "changes", n, "seq", next.Seq)
	}
}
