package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"sundry/cache/jitter"
)

// The store is read every pollInterval when no notice comes. After a failed read the
// delays grow from firstRetry to pollInterval.
const (
	pollInterval = 3 * time.Second
	firstRetry   = 100 * time.Millisecond
)

// FirstSync syncs with the store before an instance serves, so that it knows
// what was purged while it was away. It retries until ctx ends.
func (r *Replicator) FirstSync(ctx context.Context) error {
	for failures := 1; ; failures++ {
		err := r.sync(ctx)
		if err == nil {
			return nil
		}
		if jitter.Pause(ctx, syncDelay(failures), 0) != nil {
			return err
		}
	}
}

// Run applies changes made on other instances, and reverts settings that expire,
// until ctx ends. Notices make it fast, also after an outage; polling makes up for a
// notice that was lost, or a read after it that failed.
func (r *Replicator) Run(ctx context.Context) {
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() { r.cfg.Store.Watch(ctx, r.requestSync, r.lost) })
	failures, next := 0, time.Now()
	for ctx.Err() == nil {
		if !r.waitForSync(ctx, next) {
			r.expire()
			continue
		}
		err := r.sync(ctx)
		if ctx.Err() != nil {
			return
		}
		failures = r.report(err, failures)
		next = time.Now().Add(syncDelay(failures))
	}
}

// syncDelay returns how long to wait after so many consecutive failures, with jitter,
// so that the instances of a fleet do not read at the same time.
func syncDelay(failures int) time.Duration {
	d := pollInterval
	if failures > 0 {
		d = min(firstRetry<<min(failures-1, 10), pollInterval)
	}
	return jitter.Around(d, 0.25)
}

// report counts consecutive failures, and logs the first and the end of them.
func (r *Replicator) report(err error, failures int) int {
	switch {
	case err == nil && failures > 0:
		r.cfg.Log.Info("settings are in sync with the store again", "seq", r.Settings().Seq, "failures", failures)
	case err != nil && failures == 0:
		r.cfg.Log.Warn("settings are not in sync with the store; retrying", "error", err)
	}
	if err == nil {
		return 0
	}
	return failures + 1
}

// lost is called when this instance no longer hears of changes made elsewhere: until it
// has read the store again, it may lack some.
func (r *Replicator) lost() {
	r.setInSync(false)
	r.requestSync()
}

// setInSync says whether this instance is in sync.
func (r *Replicator) setInSync(now bool) {
	if before := r.inSync.Swap(now); now && !before && r.cfg.Returned != nil {
		r.cfg.Returned()
	}
}

// requestSync makes Run read the store at once.
func (r *Replicator) requestSync() {
	select {
	case r.syncRequested <- struct{}{}:
	default: // it is requested already
	}
}

// waitForSync waits until it is time to read the store; false when ctx ends or a
// setting expires first.
func (r *Replicator) waitForSync(ctx context.Context, next time.Time) bool {
	until, expiry := next, r.nextExpiry()
	if !expiry.IsZero() && expiry.Before(next) {
		until = expiry
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-r.syncRequested:
		return true
	case <-timer.C:
		return until.Equal(next)
	}
}

func (r *Replicator) nextExpiry() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.expiry
}

// expire applies the settings again when some of them have expired.
func (r *Replicator) expire() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.expiry.IsZero() || time.Now().Before(r.expiry) {
		return
	}
	if err := r.apply(); err != nil {
		r.cfg.Log.Warn("settings that expired could not be reverted; retrying", "error", err)
	}
}

// sync reads what is stored and puts it into force here, or stores what is in
// force here where the store lacks it.
func (r *Replicator) sync(ctx context.Context) error {
	if err := r.lockStore(ctx); err != nil {
		return err
	}
	defer r.unlockStore()
	err := errConflict
	for i := 0; i < maxSwaps && errors.Is(err, errConflict); i++ {
		err = r.syncOnce(ctx)
	}
	if err != nil {
		r.metrics.failures.Inc()
		return err
	}
	r.metrics.lastInSync.SetToCurrentTime()
	return nil
}

// syncOnce is sync without its retries; errConflict asks for one.
func (r *Replicator) syncOnce(ctx context.Context) error {
	stored, raw, err := r.load(ctx)
	if err != nil {
		r.setInSync(false)
		return err
	}
	rel, base, next, err := r.reconcile(stored, time.Now())
	if err != nil {
		r.setInSync(false)
		return err
	}
	switch rel {
	case ahead:
		err = r.applyStored(next, raw)
	case same:
		err = r.reapply(next, raw)
	default:
		err = r.restore(ctx, rel, stored, base, next, raw)
	}
	// Purges are applied whatever else failed, but for those that only a store has
	// which was rolled back and cannot be written to.
	r.setInSync(err == nil || r.Settings().hasPurgesOf(stored))
	return err
}

// restore stores what is in force here. Changes made elsewhere, where the store
// lacks nothing else than pending changes, count even if nothing can be stored.
func (r *Replicator) restore(ctx context.Context, rel relation, stored, base, next *Settings, raw []byte) error {
	if rel == lacksPending {
		if err := r.rebase(base, next, raw); err != nil {
			r.cfg.Log.Warn("settings could not be applied; retrying", "error", err)
		}
	}
	return r.writeBack(ctx, rel, stored, next, raw)
}

// rebase puts what is stored into force, with the pending changes on top.
func (r *Replicator) rebase(base, next *Settings, raw []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes.Equal(raw, r.baseRaw) && r.loaded {
		return nil
	}
	return r.setBase(base, next, raw, r.pending)
}

// reapply applies the stored settings, which are in force already, if the store had
// not been read yet or some of them could not be applied before.
func (r *Replicator) reapply(s *Settings, raw []byte) error {
	r.mu.Lock()
	loaded, failed := r.loaded, r.applyErr != nil
	r.mu.Unlock()
	if !loaded || failed {
		return r.applyStored(s, raw)
	}
	return nil
}

// writeBack stores what is in force here where the store was emptied or rolled
// back, or lacks pending changes.
func (r *Replicator) writeBack(ctx context.Context, rel relation, stored, s *Settings, raw []byte) error {
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	ok, err := r.swap(ctx, raw, b)
	switch {
	case err != nil && rel == lacksPending:
		return fmt.Errorf("%d pending changes cannot be stored: %w", r.Pending(), err)
	case err != nil:
		return fmt.Errorf("the store was rolled back from change %d to %d, and cannot be written to: %w", r.Settings().Seq, stored.sequence(), err)
	case !ok:
		return errConflict
	}
	r.reportRestore(rel, stored, s.Seq)
	return r.applyStored(s, b)
}
