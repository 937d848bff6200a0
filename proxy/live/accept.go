package live

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"sundry/cache/jitter"
	"sundry/metrics/words"
)

// ErrInvalid means that the change is a mistake, and nothing was changed.
var ErrInvalid error = words.NewError("invalid change", "更改有误")

// errStoreTime means that a change could not be stored within storeTime.
var errStoreTime = errors.New("the store took too long")

const (
	// storeTime limits how long an operator waits until a change is stored, in all: for changes
	// that are being stored already, for each call of the store, and for further attempts while
	// others keep storing theirs. The pauses between these grow from firstSwapPause to maxSwapPause.
	storeTime      = 2 * time.Second
	firstSwapPause = 2 * time.Millisecond
	maxSwapPause   = 50 * time.Millisecond
	swapSpread     = 0.9
)

// Change makes a change: it is checked, in force on this instance at once, stored, and
// told to the other instances. What cannot be stored yet is pending, and stored later;
// all that is an error is a mistake (ErrInvalid), or that cache settings could not be applied
// here. With Expected, it is stored, or refused: nothing is changed then.
func (r *Replicator) Change(ctx context.Context, c Change) (Record, error) {
	c.ID = rand.Text()
	if c.Expected != nil {
		return r.changeExpected(ctx, c)
	}
	record, failed, err := r.enforce(c)
	if err != nil {
		return Record{}, refuse(ErrInvalid, err)
	}
	defer r.requestSync() // Run stores what is pending
	err = r.storePending(ctx)
	r.writeCopy() // before the operator is told that it is pending
	record, pending := r.recordOf(record)
	if pending {
		r.cfg.Log.Warn("change is in force on this instance only, until it can be stored", "do", c.Do, "target", c.Target, "by", c.By, "error", err)
	} else {
		r.logChange(c, record)
	}
	if failed != nil && c.Do == DoCache {
		return record, refuse(words.Errorf("change %d is made, and could not be applied here yet", "更改 %d 已作出，但尚未能应用到本实例", record.Seq), failed)
	}
	return record, nil
}

func (r *Replicator) logChange(c Change, record Record) {
	r.cfg.Log.Info("changed", "do", c.Do, "target", c.Target, "by", c.By, "seq", record.Seq, "undoes", c.Undoes)
}

// storePending stores the pending changes, unless others who were waiting for the store have
// done so by then.
func (r *Replicator) storePending(ctx context.Context) error {
	ctx, cancel := withStoreTime(ctx)
	defer cancel()
	if err := r.lockStore(ctx); err != nil {
		return err
	}
	defer r.unlockStore()
	if r.Pending() == 0 {
		return nil
	}
	return r.syncStore(ctx)
}

// withStoreTime returns a context that ends after storeTime, for all that an operator waits for.
func withStoreTime(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, storeTime, errStoreTime)
}

// gaveUp reports whether nobody waits for the store any more, so that its silence says nothing. If it has not replied
// within storeTime, it has failed.
func gaveUp(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), errStoreTime)
}

// changeExpected makes a change on top of what is stored, unless its target was changed since
// it was decided about.
func (r *Replicator) changeExpected(ctx context.Context, c Change) (record Record, err error) {
	ctx, cancel := withStoreTime(ctx)
	defer cancel()
	if err := r.lockStore(ctx); err != nil {
		return Record{}, err
	}
	defer r.unlockStore()
	if err = whileConflicts(ctx, func() error { record, err = r.exchange(ctx, &c); return err }); err != nil {
		return Record{}, fmt.Errorf("change %s of %s: %w", c.Do, c.Target, err)
	}
	r.writeCopy()
	r.logChange(c, record)
	r.requestSync()
	return record, nil
}

// check returns an error where the cache settings that a change makes do not compile. Others,
// such as purges, are made whatever is stored: it may compile only where it came from.
func (r *Replicator) check(c Change, next *Settings, now time.Time) error {
	if c.Do != DoCache {
		return nil
	}
	return r.cfg.Check(next.ActiveCache(now))
}

// whileConflicts tries again while others store first, for storeTime.
func whileConflicts(ctx context.Context, try func() error) error {
	until := time.Now().Add(storeTime)
	for pause := firstSwapPause; ; pause = min(2*pause, maxSwapPause) {
		err := try()
		if !errors.Is(err, errConflict) || !time.Now().Before(until) || jitter.Pause(ctx, pause, swapSpread) != nil {
			return err
		}
	}
}
