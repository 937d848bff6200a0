package cache

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// landing is what a flight brings to everyone who waits for it.
type landing struct {
	entry  *entry
	tier   Tier
	stored bool
	// covered means that a copy was at hand while it was loaded.
	covered bool
}

// refresh begins at most one fill of the key in the background, unless a
// failure lately told to wait.
func (s *Space) refresh(ctx context.Context, key string, load Loader, covered bool, now time.Time) {
	if _, err := s.cache.failed.paused(key, covered, now); err != nil || s.cache.flight.keepIfAny(key) {
		return
	}
	_, err := s.cache.flight.joinBehind(key, s.countedAs(ctx), func(life context.Context) (*landing, error) {
		got, err := s.fill(life, ctx, key, load, true)
		if err != nil {
			s.cache.log.Debug("refresh failed", "endpoint", s.name, "error", err)
		}
		return got, err
	})
	if err != nil {
		s.cache.log.Debug("refresh not begun", "endpoint", s.name, "error", err)
	}
}

// Warm fills the key unless it is fresh and not yet due for a refresh. It
// returns when that is done.
func (s *Space) Warm(ctx context.Context, key string, load Loader) error {
	if e, ok := s.cache.near.head(s.policy.Class, key); ok {
		if state, _ := s.judge(key, &e.meta, time.Now()); state == Fresh {
			return nil
		}
	}
	results, err := s.cache.flight.joinBehind(key, s.countedAs(ctx), func(life context.Context) (*landing, error) {
		return s.fill(life, ctx, key, load, true)
	})
	if err != nil {
		return err
	}
	return (<-results).Err
}

// fill is one flight under way: near tier again, far tier, lease, load, store.
type fill struct {
	*Space
	key    string
	loader Loader
	life   context.Context //nolint:containedctx // of the flight: it ends when nobody wants the fill any more
	caller context.Context //nolint:containedctx // whose values each round takes over
	behind bool
	// copy is the best that was found on the way. It stands in if nothing
	// better comes; nil: none.
	copy *landing
	// had is the birth of what Redis had at first, and told the failure record
	// that was seen there last.
	had  time.Time
	told []byte
	// release gives the lease back; nil: none was asked for.
	release func()
}

// fill runs inside the flight, whose life it shares. With an error comes the
// copy that stands in, or nil.
func (s *Space) fill(life, caller context.Context, key string, load Loader, behind bool) (got *landing, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("fill panicked: %v\n%s", r, debug.Stack()) // or it would end the process
		}
	}()
	f := &fill{Space: s, key: key, loader: load, life: life, caller: caller, behind: behind}
	defer f.giveBack()
	return f.run()
}

func (f *fill) run() (*landing, error) {
	ctx, cancel := f.detach()
	defer cancel()
	if got := f.near(); got != nil {
		return got, nil
	}
	if got := f.far(ctx); got != nil {
		return got, nil
	}
	if err := f.paused(time.Now()); err != nil {
		return f.standIn(time.Now()), err
	}
	if !f.lease(ctx) {
		if got, err := f.wait(ctx); got != nil || err != nil {
			return cmp.Or(got, f.standIn(time.Now())), err
		}
	}
	if err := ctx.Err(); err != nil {
		return f.standIn(time.Now()), err
	}
	return f.load(ctx)
}

// detach keeps the caller's values and drops its deadline; the fill ends at
// its own, or with its flight.
func (f *fill) detach() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithValue(context.WithoutCancel(f.caller), within{}, true), f.policy.FillTimeout)
	unhook := context.AfterFunc(f.life, cancel)
	return ctx, func() { unhook(); cancel() }
}

// near looks again: a flight that landed between this caller's look and its
// take-off has stored the entry, and it would be filled twice.
func (f *fill) near() *landing {
	e, ok := f.cache.near.head(f.policy.Class, f.key)
	if !ok || !f.complete(f.key, &e) {
		return nil
	}
	got := &landing{entry: &e, tier: Near}
	switch state := f.state(&e, time.Now()); {
	case state == Fresh:
		return got
	case usable(state):
		f.copy = got
	}
	return nil
}

func (f *fill) state(e *entry, now time.Time) State {
	state, _ := f.judge(f.key, &e.meta, now)
	return state
}

// standIn is the copy, if it still can at now.
func (f *fill) standIn(now time.Time) *landing {
	if f.copy != nil && usable(f.state(f.copy.entry, now)) {
		return f.copy
	}
	return nil
}

// covered tells whether a copy is at hand that neither a no nor a last resort
// may take the place of.
func (f *fill) covered(now time.Time) bool {
	return f.copy != nil && covers(&f.copy.entry.meta, f.state(f.copy.entry, now))
}

// complete checks the first and the last part of a split entry, which were
// written together: eviction takes the oldest first.
func (s *Space) complete(key string, e *entry) bool {
	if !e.split() {
		return true
	}
	for _, n := range []int{0, e.records() - 1} {
		if !s.cache.near.hasPart(s.policy.Class, key, e, n) {
			return false
		}
	}
	return true
}
