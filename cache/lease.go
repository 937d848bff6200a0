package cache

import (
	"bytes"
	"context"
	"math/rand/v2"
	"time"
)

// While another instance holds the lease it is at work, and is waited for; how
// long a fill goes on without one that it cannot get, and how often it looks.
const (
	leaseWait = 2 * time.Second
	leasePoll = 50 * time.Millisecond
	// leaseShare is the part of its time that a fill waits for another one; the
	// rest is for its own try.
	leaseShare = 0.75
)

// lease asks for the fleet's right to fill the key.
func (f *fill) lease(ctx context.Context) bool {
	if !f.shared() {
		return true
	}
	held, release := f.cache.far.Lease(ctx, f.key, f.policy.FillTimeout)
	f.release = release
	return held
}

// giveBack lets the others have the lease once they can see what this fill came
// to.
func (f *fill) giveBack() {
	if f.release != nil {
		f.cache.behind.add(0, f.release)
	}
}

// wait looks now and then what has become of the instance that holds the lease:
// it has landed; or its fill failed, which is this one's failure as well; or it
// is gone, which ends the lease within seconds, and it is taken over. When
// nothing is heard in time, this one fills too: the lease saves calls, it does
// not guard anything.
func (f *fill) wait(ctx context.Context) (*landing, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(leaseShare*float64(f.policy.FillTimeout)))
	defer cancel()
	for seen := time.Now(); time.Since(seen) < leaseWait && nap(ctx, leaseWait-time.Since(seen)); {
		got, leased, err := f.watch(ctx)
		if got != nil || err != nil {
			return got, err
		}
		if leased {
			seen = time.Now()
		}
		if !leased && ctx.Err() == nil && f.lease(ctx) {
			// It may have landed and given the lease back since.
			got, _, err := f.watch(ctx)
			return got, err
		}
	}
	return nil, nil //nolint:nilnil // nothing was heard
}

// nap lasts until it is time to look again, at the most so long; false once ctx
// has ended.
func nap(ctx context.Context, most time.Duration) bool {
	t := time.NewTimer(min(most, time.Duration((0.5+rand.Float64())*float64(leasePoll))))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// watch looks once: for an entry that is fresh or younger than what Redis had
// before, and for a failure that it had not.
func (f *fill) watch(ctx context.Context) (got *landing, leased bool, err error) {
	packed, record, leased := f.cache.far.Look(ctx, f.key)
	if e, ok := f.unpack(packed); ok {
		got, state := f.promote(e)
		if got != nil && (state <= Eager || e.meta.Created.After(f.had)) {
			f.seen.farHit.Inc()
			return got, leased, nil
		}
	}
	if !bytes.Equal(record, f.told) {
		f.told = record
		return nil, leased, f.paused(time.Now())
	}
	return nil, leased, nil
}
