package cache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"sundry/cache/clients"
	"sundry/cache/entry"
	"sundry/cache/policy"
	"sundry/metrics/panics"
)

// refresh starts a fill of the key in the background, unless one is running. If the key
// is paused after a failure, or the refresh is withheld, the copy is only confirmed.
func (s *Space) refresh(ctx context.Context, key string, load Loader, answer *Answer, now time.Time) {
	if s.cache.flights.detachIfRunning(key) {
		return
	}
	_, err := s.cache.failures.paused(key, !answer.Meta.Replaceable(), now)
	if err != nil || s.withholds(ctx, key, load, answer.State, answer.Left, now) {
		s.confirm(ctx, key, load, answer.Meta.Created, now)
		return
	}
	f := s.newFill(ctx, key, load, true)
	_, err = s.cache.flights.joinDetached(key, s.accountOf(ctx), func(flight *flight) (*flightResult, error) {
		got, err := f.run(flight)
		if err != nil {
			s.cache.log.Debug("refresh failed", "endpoint", s.name, "error", err)
		}
		return got, err
	})
	if err != nil {
		s.cache.log.Debug("refresh not started", "endpoint", s.name, "error", err)
	}
}

// Warm fills the key unless it is fresh and not yet due for a refresh. It returns when
// that is done or ctx ends, with the time at which the copy in the near tier is due for
// one; zero: there is none.
func (s *Space) Warm(ctx context.Context, key string, load Loader) (due time.Time, err error) {
	if e, ok := s.cache.near.Head(s.policy.Class, key); ok && s.complete(key, &e) {
		now := time.Now()
		if state, _ := s.state(key, &e.Meta, now); state == policy.Fresh {
			return s.policy.RefreshFrom(&e.Meta), nil
		}
	}
	flight, err := s.cache.flights.joinDetached(key, s.accountOf(ctx), s.newFill(ctx, key, load, true).run)
	if err != nil {
		return time.Time{}, err
	}
	select {
	case <-flight.done:
		err = flight.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	if e, ok := s.cache.near.Head(s.policy.Class, key); ok {
		due = s.policy.RefreshFrom(&e.Meta)
	}
	return due, err
}

// fill is the work of a flight: near tier again, far tier, lease, load, store.
type fill struct {
	*Space
	key        string
	loader     Loader
	flight     *flight         // nil before it obtains what no tier has
	caller     context.Context //nolint:containedctx // its values are those of every load
	background bool
	// copy is the best entry found so far, the fallback if the load fails; nil:
	// none.
	copy *flightResult
	// confirms means that Redis is looked into although the copy is fresh, or no source may be called, looked that this is not needed, and
	// version is that of the value there before.
	confirms bool
	looked   bool
	version  string
	// farCreated is the creation time of the entry that the first look into Redis
	// found, be it gone, farLacks whether Redis had nothing under the key, farLeased
	// whether it found the lease held, and farFailure the failure record that the last look found.
	farCreated time.Time
	farLacks   bool
	farLeased  bool
	farFailure []byte
	// release ends the lease; nil: none was granted by the look, or requested since.
	release func()
}

func (s *Space) newFill(caller context.Context, key string, load Loader, background bool) *fill {
	return &fill{Space: s, key: key, loader: load, caller: caller, background: background}
}

// run is the whole fill. With an error it returns the copy to serve as fallback, or
// nil.
func (f *fill) run(flight *flight) (*flightResult, error) {
	if got, err := f.find(); got != nil || err != nil {
		return got, err
	}
	return f.obtain(flight)
}

// find looks into both tiers. It goes on when its flight is cancelled: the budget of a
// look bounds it.
func (f *fill) find() (got *flightResult, err error) {
	defer func() {
		if got != nil || err != nil {
			f.releaseLease()
		}
	}()
	defer f.cache.panics.Catch(panics.Fill, &err)
	if got := f.checkNear(); got != nil {
		return got, nil
	}
	copied := f.copy
	if copied != nil && f.looked {
		return nil, nil
	}
	if got = f.checkFar(f.cache.flights.base); f.confirms && copied != nil {
		got = f.newestOf(copied, got)
	}
	return got, nil
}

// obtain gets what no tier has: from the instance that is filling the key, or from the
// loader. With an error it returns the copy, as run does, and writes it to Redis if that lacks it.
func (f *fill) obtain(flight *flight) (got *flightResult, err error) {
	defer func() {
		if err != nil {
			f.writeBack()
		}
	}()
	defer f.cache.panics.Catch(panics.Fill, &err)
	defer f.releaseLease()
	f.flight = flight
	ctx := f.newContext()
	if err := f.paused(time.Now()); err != nil {
		return f.usableCopy(time.Now()), err
	}
	if got := f.withheldCopy(ctx); got != nil {
		return got, errWithheld
	}
	if got, err := f.leaseOrResult(ctx); got != nil || err != nil {
		return cmp.Or(got, f.usableCopy(time.Now())), err
	}
	if err := ctx.Err(); err != nil {
		return f.usableCopy(time.Now()), err
	}
	return f.load(ctx)
}

// newContext keeps the caller's values but not its deadline: the fill ends at its
// own, or with its flight.
func (f *fill) newContext() context.Context {
	return f.cache.flights.context(f.caller, f.flight, f.policy.FillTimeout)
}

// fillContext is that of all flights, with the values of the caller that started one.
type fillContext struct {
	context.Context                 //nolint:containedctx // it is one
	caller          context.Context //nolint:containedctx // for its values
}

// Value implements context.Context. The base of the flights has no values but those by
// which package context finds it.
func (c fillContext) Value(key any) any {
	if key == any(insideFill{}) {
		return true
	}
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.caller.Value(key)
}

// checkNear looks again: a flight that finished after this caller's look and
// before its own flight has stored the entry, which would be filled twice.
func (f *fill) checkNear() *flightResult {
	e, ok := f.cache.near.Head(f.policy.Class, f.key)
	if !ok || !f.complete(f.key, &e) {
		return nil
	}
	got := &flightResult{entry: &e, tier: Near}
	now := time.Now()
	state := f.stateOf(&e, now)
	if !policy.Usable(state) {
		return nil
	}
	if state == policy.Fresh && (!f.confirms || f.looked) {
		return got
	}
	f.copy = got
	return nil
}

func (f *fill) stateOf(e *entry.Entry, now time.Time) policy.State {
	state, _ := f.state(f.key, &e.Meta, now)
	return state
}

// usableCopy is the copy if it may still be served at now, or nil.
func (f *fill) usableCopy(now time.Time) *flightResult {
	if f.copy != nil && policy.Usable(f.stateOf(f.copy.entry, now)) {
		return f.copy
	}
	return nil
}

// hasCopy reports whether a usable copy exists that neither a negative answer nor a
// last resort may replace.
func (f *fill) hasCopy(now time.Time) bool {
	return f.copy != nil && policy.Protected(&f.copy.entry.Meta, f.stateOf(f.copy.entry, now))
}

// complete checks the first and the last part of a split entry, which were
// written together: eviction takes the oldest first.
func (s *Space) complete(key string, e *entry.Entry) bool {
	if !e.Split() {
		return true
	}
	for _, n := range []int{0, e.Records() - 1} {
		if _, err := s.cache.near.Part(s.policy.Class, key, e, n); err != nil {
			return false
		}
	}
	return true
}

// maxLoads bounds how often a fill loads: again if a purge came meanwhile. If one
// came during the last load too, its answer is served but not stored.
const maxLoads = 3

// Why an answer is not stored.
var (
	errNegative   = errors.New("a negative answer does not replace a usable copy")
	errLastResort = errors.New("a last resort does not replace a usable copy")
)

// load calls the loader and stores its answer. It loads again if the key was
// purged meanwhile, in the time of the fill: later callers never get what was loaded before a purge.
func (f *fill) load(ctx context.Context) (*flightResult, error) {
	for range maxLoads - 1 {
		got, retry, err := f.loadOnce(ctx, false)
		if !retry {
			return got, err
		}
	}
	got, _, err := f.loadOnce(ctx, true)
	return got, err
}

func (f *fill) loadOnce(ctx context.Context, last bool) (got *flightResult, retry bool, err error) {
	began := time.Now()
	created := f.creationTime(f.key, began) // which may date purges anew
	purgedBefore, hasCopy := f.purgedBefore(f.key, began), f.hasCopy(began)
	content, err := f.loadSafely(f.tellDrop(ctx, f.key, began), f.loader, hasCopy)
	now := time.Now()
	if ctx.Err() != nil {
		err = contextEnded(ctx, err)
	}
	purgedMeanwhile := !last && ctx.Err() == nil && f.purgedBefore(f.key, now).After(purgedBefore)
	if err != nil {
		if purgedMeanwhile && hasCopy && !f.hasCopy(now) {
			return nil, true, nil // the load asked no last resort because of the copy, which is purged now
		}
		f.recordFailure(ctx, err, hasCopy, began, now)
		return f.usableCopy(now), false, err
	}
	old, _ := f.cache.near.Last(f.policy.Class, f.key)
	e, err := f.entryOf(f.key, &content, created, &old)
	switch {
	case err != nil:
		f.recordFailure(ctx, err, hasCopy, began, now)
		return f.usableCopy(now), false, err
	case !f.purgedSince(f.key, &e.Meta, now):
		if got := f.overtaken(ctx, e, now.Sub(began)); got != nil {
			return got, false, nil
		}
		if ctx.Err() != nil {
			return f.usableCopy(now), false, contextEnded(ctx, nil)
		}
		got, err = f.storeUnlessWorse(e, &old, hasCopy, began, now)
		return got, false, err
	case purgedMeanwhile:
		return nil, true, nil
	}
	return &flightResult{entry: e, hadCopy: hasCopy}, false, nil
}

// contextEnded is the error of a load whose context ended: the load's own error
// may only be a consequence of that.
func contextEnded(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, ctx.Err()) || errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("fill: %w", ctx.Err())
	}
	return fmt.Errorf("fill: %w: %w", ctx.Err(), err)
}

// recordFailure pauses the key, unless the fill was only cancelled, because no
// waiters are left or the cache closes.
func (f *fill) recordFailure(ctx context.Context, err error, hadCopy bool, began, now time.Time) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	f.metrics.refreshFailed.Inc()
	f.observeFailure(began, err)
	f.shareFailure(f.cache.failures.add(f.key, err, hadCopy, &f.policy, now), now)
}

// storeUnlessWorse stores the entry, unless the copy is better.
func (f *fill) storeUnlessWorse(e, old *entry.Entry, hadCopy bool, began, now time.Time) (*flightResult, error) {
	if f.copy != nil && !policy.MayReplace(&e.Meta, &f.copy.entry.Meta, f.stateOf(f.copy.entry, now)) {
		err := fmt.Errorf("%s: %w", e.Meta.Source, errLastResort)
		if e.Meta.Negative {
			err = fmt.Errorf("%s: %w", e.Meta.Source, errNegative)
		}
		f.metrics.refreshFailed.Inc()
		f.observeFailure(began, err)
		f.cache.failures.add(f.key, err, true, &f.policy, now)
		return f.copy, err
	}
	f.cache.failures.clear(f.key)
	return &flightResult{entry: e, stored: f.store(e, old), hadCopy: hadCopy}, nil
}

// entryOf encodes content as an entry. If the old entry has the same content, its
// date of change is kept, and its generation as well unless it was purged.
func (s *Space) entryOf(key string, c *entry.Content, created time.Time, old *entry.Entry) (*entry.Entry, error) {
	m := &entry.Meta{Created: created, Modified: created, Spread: uint8(rand.Uint32())}
	gen := rand.Uint64()
	if old.Raw != nil && old.Digest == entry.DigestOf(c) {
		if old.Meta.Modified.Before(created) {
			m.Modified = old.Meta.Modified
		}
		if !s.purgedSince(key, &old.Meta, time.Now()) {
			gen = old.Generation
		}
	}
	raw, err := entry.Encode(c, m, gen)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	e, err := entry.Parse(raw)
	return &e, err
}

// store writes the entry to both tiers, and counts whether its content changed.
func (f *fill) store(e, old *entry.Entry) bool {
	if e.Meta.Negative && f.policy.Negative == 0 {
		return false
	}
	switch {
	case old.Raw == nil:
		f.metrics.firstFill.Inc()
	case old.Digest == e.Digest:
		f.metrics.refreshSame.Inc()
	default:
		f.metrics.refreshNew.Inc()
	}
	f.observeFill(f.key, e, old)
	stored := false
	if old.Generation == e.Generation && old.Split() && f.complete(f.key, old) {
		stored = f.cache.near.Renew(f.policy.Class, f.key, e, old)
	} else {
		stored = f.cache.near.Put(f.policy.Class, f.key, e)
	}
	f.removeIfPurged(f.key, e)
	f.writeFar(f.key, e)
	return stored
}

// removeIfPurged removes an entry that was purged while it was stored: the purge may
// have come before there was anything to remove.
func (s *Space) removeIfPurged(key string, e *entry.Entry) {
	if now := time.Now(); s.purgedSince(key, &e.Meta, now) {
		s.cache.near.RemoveUntil(s.policy.Class, key, e.Meta.Created, now)
	}
}

// loadSafely turns a panic into an error, so that it is a failure like another.
func (s *Space) loadSafely(ctx context.Context, load Loader, hasCopy bool) (c entry.Content, err error) {
	defer s.cache.panics.Catch(panics.Fill, &err)
	return load.Load(ctx, hasCopy)
}

// insideFill marks the context of a fill, for the fills that it starts.
type insideFill struct{}

// accountOf returns the account of a fill with this context. One inside another fill is
// counted already.
func (s *Space) accountOf(ctx context.Context) account {
	if ctx.Value(insideFill{}) != nil {
		return account{}
	}
	return account{s.endpoint, clients.From(ctx)}
}
