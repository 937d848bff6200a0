package cache

import (
	"bytes"
	"context"
	"time"

	"sundry/cache/jitter"
	"sundry/cache/policy"
)

// Waiting for the instance that holds the lease, which is filling the key.
const (
	// firstPoll is the pause before the first look into Redis. Later ones are twice as long each, up to leasePoll.
	firstPoll = 5 * time.Millisecond
	leasePoll = 50 * time.Millisecond
	// pollSpread is the share by which the pauses vary.
	pollSpread = 0.5
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

// leaseOrResult takes the lease, or returns the result of the fill of the instance
// that holds it. Another may have filled the key between the look and the lease, so Redis is
// looked into again where the lease was held at the look, and where editions are published: then
// all instances fill at the same moment, and one is to ask the sources.
func (f *fill) leaseOrResult(ctx context.Context) (*flightResult, error) {
	switch {
	case f.release != nil: // since the look, which found nothing
	case !f.lease(ctx):
		return f.waitForHolder(ctx)
	case f.farLeased, f.usesFar() && f.policy.Until != nil:
		got, _, err := f.poll(ctx)
		return got, err
	}
	return nil, nil //nolint:nilnil // it is ours
}

// releaseLease ends the lease once other instances can see the result of this
// fill.
func (f *fill) releaseLease() {
	if f.release != nil {
		f.release()
	}
}

// waitForHolder waits for the result of the fill of the instance that holds the
// lease: an entry, or a failure, which is this fill's failure as well. If that
// instance died, its lease ends within a second and this instance takes it over; if it
// gave up without a result, at once. Without a result in time, this instance fills
// too: the lease saves upstream calls, correctness does not depend on it.
func (f *fill) waitForHolder(ctx context.Context) (got *flightResult, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(leaseShare*float64(f.policy.FillTimeout)))
	defer cancel()
	result := "timeout"
	defer func() { f.cache.metrics.leaseWait(result, got != nil, err != nil) }()
	pause := firstPoll
	for lastSeen := time.Now(); time.Since(lastSeen) < leaseWait; pause = min(2*pause, leasePoll) {
		if jitter.Pause(ctx, pause, pollSpread) != nil {
			break
		}
		got, leased, err := f.poll(ctx)
		if got != nil || err != nil {
			return got, err
		}
		if leased {
			lastSeen = time.Now()
		}
		if !leased && ctx.Err() == nil && f.lease(ctx) {
			// The holder may have finished and released it since.
			result = "taken_over"
			got, _, err := f.poll(ctx)
			return got, err
		}
	}
	return nil, nil //nolint:nilnil // no result
}

// poll looks once for an entry that is fresh or newer than the one that Redis held
// at first, and for a new failure record. A stale entry, which an instance has written back, is only the copy.
func (f *fill) poll(ctx context.Context) (got *flightResult, leased bool, err error) {
	found := f.cache.far.Look(ctx, f.key, 0)
	if e, ok := f.unpack(&found); ok {
		got, state := f.promote(e)
		if got != nil && (state <= policy.Eager || state != policy.Stale && e.Meta.Created.After(f.farCreated)) {
			f.metrics.farHit.Inc()
			return got, found.Leased, nil
		}
	}
	if !bytes.Equal(found.Failure, f.farFailure) {
		f.farFailure = found.Failure
		return nil, found.Leased, f.paused(time.Now())
	}
	return nil, found.Leased, nil
}
