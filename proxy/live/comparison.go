package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sundry/cache/far"
)

// comparison of what is stored with what is known here.
type comparison struct {
	relation
	stored *Settings // nil: none, or damaged
	raw    []byte    // what is stored, as it is
	base   *Settings // the stored settings, or those known here, or both merged
	next   *Settings // base with the pending changes
	// pending are the changes that next has and base may lack.
	pending []pendingChange
}

// compareStored reads the store. Damaged settings are an error while it is not time to repair
// them.
func (r *Replicator) compareStored(ctx context.Context) (*comparison, error) {
	if !r.clockKnown.Load() { // what is pending is to be dated before it is stored
		if err := r.readClock(ctx); err != nil {
			return nil, err
		}
	}
	raw, err := r.cfg.Store.Load(ctx)
	if err != nil && !errors.Is(err, far.ErrNotAValue) {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	known, have, changes := r.known()
	v, now := &comparison{raw: raw, pending: changes}, r.Now()
	switch {
	case err == nil && len(have) > 0 && bytes.Equal(have, raw):
		v.stored = known // unchanged, as it is most of the time
	case err == nil && len(raw) > 0:
		v.stored, err = parse(raw)
	}
	if err != nil {
		v.relation, v.stored = damaged, nil
		v.base, err = r.repairable(known, now, err)
	} else {
		r.damage = damage{}
		v.relation, v.base = known.reconcile(v.stored, now)
	}
	if err == nil {
		v.next, err = v.base.withPending(changes)
	}
	if err != nil {
		return nil, fmt.Errorf("stored settings: %w", err)
	}
	return v, nil
}

// maxSeq is the highest number that JSON holds exactly everywhere.
const maxSeq = 1 << 53

// parse reads stored settings.
func parse(raw []byte) (*Settings, error) {
	s := &Settings{}
	if err := json.Unmarshal(raw, s); err != nil {
		return nil, err
	}
	if s.Seq < 0 || s.Seq > maxSeq {
		return nil, fmt.Errorf("number %d of the last change is not possible", s.Seq)
	}
	return s, nil
}

// isSound reports whether the stored settings lack nothing but what is pending.
func (v *comparison) isSound() bool { return v.relation == same || v.relation == advanced }

// known returns what was stored when the store was last read, and the changes that
// are pending.
func (r *Replicator) known() (base *Settings, raw []byte, changes []pendingChange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.base, r.baseRaw, r.pending
}

// write stores the next settings in the place of the stored ones, and puts them into force.
// errConflict means that others have been stored meanwhile.
func (r *Replicator) write(ctx context.Context, v *comparison) error {
	b, err := json.Marshal(v.next)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	ok, err := r.replaceStored(ctx, v, b)
	switch {
	case err != nil:
		return v.unwritable(err)
	case !ok:
		return errConflict
	}
	r.reportRestore(v)
	if n := len(v.pending); n > 0 {
		r.cfg.Log.Info("pending changes are stored", "changes", n, "seq", v.next.Seq)
	}
	return r.adopt(v.next, b, v.pending)
}

// replaceStored stores a value in the place of what was read, and reports whether that was still
// there. When the store's answer is lost, it reads what is stored.
func (r *Replicator) replaceStored(ctx context.Context, v *comparison, value []byte) (ok bool, err error) {
	if v.relation == damaged {
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
func (v *comparison) unwritable(err error) error {
	switch v.relation {
	case same, advanced:
		return fmt.Errorf("changes cannot be stored: %w", err)
	case damaged:
		return fmt.Errorf("the stored settings are damaged, and cannot be written to: %w", err)
	}
	return fmt.Errorf("the store was rolled back from change %d to %d, and cannot be written to: %w", v.base.Seq, v.stored.sequence(), err)
}

// reportRestore counts and logs that lost or damaged settings were stored again.
func (r *Replicator) reportRestore(v *comparison) {
	switch v.relation {
	case emptied, rolledBack:
		r.metrics.restores.Inc()
		r.cfg.Log.Warn("the store was rolled back or emptied; the settings in force here are stored again",
			"stored", v.stored.sequence(), "seq", v.next.Seq)
	case damaged:
		r.metrics.repairs.Inc()
		r.cfg.Log.Error("the stored settings were damaged; they are kept under another name, and the settings in force here are stored again", "seq", v.next.Seq)
	}
}
