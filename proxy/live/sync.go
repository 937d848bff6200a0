package live

import (
	"context"
	"sync"
	"time"

	"sundry/cache/jitter"
	"sundry/metrics/panics"
)

// The store is read every pollInterval when no notice comes. After a failed read the
// delays grow from firstRetry to lastRetry. A read that hangs takes two seconds, so an
// instance knows the settings within four seconds after an outage.
const (
	pollInterval = 3 * time.Second
	firstRetry   = 100 * time.Millisecond
	lastRetry    = time.Second
)

// FirstSync syncs with the store before an instance serves, so that it knows
// what was purged while it was away. What was pending when it ended is in force first.
// It retries until ctx ends.
func (r *Replicator) FirstSync(ctx context.Context) error {
	r.cfg.Panics.Func(panics.Settings, r.readCopy)()
	for failures := 1; ; failures++ {
		r.clockKnown.Store(false) // so that sync reads it
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
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	watching.Go(r.cfg.Panics.Loop(ctx, panics.Settings, func(ctx context.Context) { r.cfg.Store.Watch(ctx, r.requestSync, r.lost) }))
	watching.Go(r.cfg.Panics.Loop(ctx, panics.Settings, r.revertExpired))
	r.cfg.Panics.Loop(ctx, panics.Settings, r.keepInSync)()
	r.leave()
}

// keepInSync is what Run does until ctx ends.
func (r *Replicator) keepInSync(ctx context.Context) {
	failures, next := 0, time.Now()
	for r.waitForSync(ctx, next) {
		err := r.sync(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = r.readClock(ctx)
		}
		failures = r.report(err, failures)
		next = time.Now().Add(syncDelay(failures))
	}
}

// leave tries for the last time to store what is pending.
func (r *Replicator) leave() {
	if r.Pending() == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	err := r.sync(ctx)
	switch {
	case err != nil && r.copy.holdsPending():
		r.cfg.Log.Warn("pending changes stay in a file until this instance starts again: others do not know them yet", "changes", r.Pending(), "file", r.cfg.Copy, "error", err)
	case err != nil:
		r.cfg.Log.Error("pending changes are lost with this instance: others do not know them", "changes", r.Pending(), "error", err)
	}
}

// syncDelay returns how long to wait after so many consecutive failures, with jitter,
// so that the instances of a fleet do not read at the same time.
func syncDelay(failures int) time.Duration {
	d := pollInterval
	if failures > 0 {
		d = min(firstRetry<<min(failures-1, 10), lastRetry)
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

// setInSync says whether this instance is in sync. It is not while it cannot date what was purged.
func (r *Replicator) setInSync(now bool) {
	now = now && r.clockRead.Load()
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

// waitForSync waits until it is time to read the store; false when ctx ends first.
func (r *Replicator) waitForSync(ctx context.Context, next time.Time) bool {
	timer := time.NewTimer(time.Until(next))
	defer timer.Stop()
	select {
	case <-r.syncRequested:
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// revertExpired reverts settings that expire, until ctx ends. It does not wait for the store.
func (r *Replicator) revertExpired(ctx context.Context) {
	for ctx.Err() == nil {
		var expired <-chan time.Time // of no timer: nothing expires
		if at := r.nextExpiry(); !at.IsZero() {
			expired = time.After(time.Until(at))
		}
		select {
		case <-ctx.Done():
		case <-r.expiryChanged:
		case <-expired:
			r.expire()
		}
	}
}

func (r *Replicator) nextExpiry() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.local(r.expiry)
}

// expire applies the settings again when some of them have expired.
func (r *Replicator) expire() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.expiry.IsZero() || r.Now().Before(r.expiry) {
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
	return r.syncStore(ctx)
}

// syncStore is sync for a caller that holds the store lock.
func (r *Replicator) syncStore(ctx context.Context) error {
	err := whileConflicts(ctx, func() error { _, err := r.exchange(ctx, nil); return err })
	r.writeCopy()
	if err != nil {
		r.metrics.failures.Inc()
		return err
	}
	r.metrics.lastInSync.SetToCurrentTime()
	return nil
}
