package cache

import (
	"bytes"
	"context"
	"time"

	"sundry/cache/jitter"
)

// Waiting for the instance that holds the lease, which is filling the key.
const (
	// leasePoll is how often Redis is asked for the outcome and the lease.
	leasePoll = 50 * time.Millisecond
	// leaseWait is how long the wait goes on after the lease was last seen.
	leaseWait = 2 * time.Second
	// leaseShare is the part of FillTimeout that a fill may spend waiting; the
	// rest is for its own load.
	leaseShare = 0.75
)

// lease asks for the fleet's right to fill the key.
func (f *fill) lease(ctx context.Context) bool {
	if !f.usesFar() {
		return true
	}
	held, release := f.cache.far.Lease(ctx, f.key, f.policy.FillTimeout)
	f.release = release
	return held
}

// leaseOrOutcome takes the lease, or returns the outcome of the fill of the instance
// that holds it. One that held it during the first look and holds it no more has
// finished since.
func (f *fill) leaseOrOutcome(ctx context.Context) (*flightResult, error) {
	switch {
	case !f.lease(ctx):
		return f.waitForHolder(ctx)
	case f.farLeased:
		got, _, err := f.poll(ctx)
		return got, err
	}
	return nil, nil //nolint:nilnil // it is ours
}

// releaseLease ends the lease once other instances can see the outcome of this
// fill.
func (f *fill) releaseLease() {
	if f.release != nil {
		f.cache.writeBehind.add(0, f.release)
	}
}

// waitForHolder polls for the outcome of the fill of the instance that holds the
// lease: an entry, or a failure, which is this fill's failure as well. If that
// instance died, its lease ends within seconds and this instance takes it over.
// Without an outcome in time, this instance fills too: the lease saves upstream
// calls, correctness does not depend on it.
func (f *fill) waitForHolder(ctx context.Context) (*flightResult, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(leaseShare*float64(f.policy.FillTimeout)))
	defer cancel()
	for lastSeen := time.Now(); time.Since(lastSeen) < leaseWait && sleep(ctx, leaseWait-time.Since(lastSeen)); {
		got, leased, err := f.poll(ctx)
		if got != nil || err != nil {
			return got, err
		}
		if leased {
			lastSeen = time.Now()
		}
		if !leased && ctx.Err() == nil && f.lease(ctx) {
			// The holder may have finished and released it since.
			got, _, err := f.poll(ctx)
			return got, err
		}
	}
	return nil, nil //nolint:nilnil // no outcome
}

// sleep waits until the next poll is due, at most that long; false once ctx has
// ended.
func sleep(ctx context.Context, most time.Duration) bool {
	t := time.NewTimer(min(most, jitter.Around(leasePoll, 0.5)))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// poll looks once for an entry that is fresh or newer than the one that Redis held
// at first, and for a new failure record.
func (f *fill) poll(ctx context.Context) (got *flightResult, leased bool, err error) {
	packed, record, leased := f.cache.far.Look(ctx, f.key)
	if e, ok := f.unpack(packed); ok {
		got, state := f.promote(e)
		if got != nil && (state <= Eager || e.meta.Created.After(f.farCreated)) {
			f.metrics.farHit.Inc()
			return got, leased, nil
		}
	}
	if !bytes.Equal(record, f.farFailure) {
		f.farFailure = record
		return nil, leased, f.paused(time.Now())
	}
	return nil, leased, nil
}
