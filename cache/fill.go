package cache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"
)

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

// rounds bounds how often one fill loads while purges overtake it. After the
// last one its callers are answered, and nothing is kept.
const rounds = 3

// Why an answer was not taken while a copy may stand in.
var (
	errNo         = errors.New("a definite no does not replace a copy that may stand in")
	errLastResort = errors.New("a last resort does not replace a copy that may stand in")
)

// load asks the upstreams and stores what they say; anew, if meanwhile a purge
// or a drop meant what was being loaded: who comes after it never gets that.
func (f *fill) load(ctx context.Context) (*landing, error) {
	for range rounds - 1 {
		got, again, err := f.round(ctx, false)
		if !again {
			return got, err
		}
		next, cancel := f.detach()
		defer cancel()
		ctx = next
	}
	got, _, err := f.round(ctx, true)
	return got, err
}

func (f *fill) round(ctx context.Context, last bool) (got *landing, again bool, err error) {
	began := time.Now()
	gone, born, covered := f.goneBefore(f.key, began), f.birth(f.key, began), f.covered(began)
	content, err := loadSafely(ctx, f.loader, covered)
	now := time.Now()
	if ctx.Err() != nil {
		err = ended(ctx, err)
	}
	meanwhile := !last && ctx.Err() == nil && f.goneBefore(f.key, now).After(gone)
	if err != nil {
		if meanwhile && covered && !f.covered(now) {
			return nil, true, nil // a last resort was not asked
		}
		f.failed(ctx, err, covered, now)
		return f.standIn(now), false, err
	}
	old, _ := f.cache.near.head(f.policy.Class, f.key)
	e, err := f.entryOf(f.key, &content, born, &old)
	switch {
	case err != nil:
		f.failed(ctx, err, covered, now)
		return f.standIn(now), false, err
	case !f.overtaken(f.key, &e.meta, now):
		got, err = f.keep(e, &old, covered, now)
		return got, false, err
	case meanwhile:
		return nil, true, nil
	}
	return &landing{entry: e, covered: covered}, false, nil
}

// ended is the outcome of a load whose context ended: whatever it brought may
// be what the end made of it.
func ended(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, ctx.Err()) || errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("fill: %w", ctx.Err())
	}
	return fmt.Errorf("fill: %w: %w", ctx.Err(), err)
}

// failed pauses the key, unless it is only that nobody waits any more or that
// the cache closes.
func (f *fill) failed(ctx context.Context, err error, covered bool, now time.Time) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	f.seen.refreshFailed.Inc()
	f.tell(f.cache.failed.add(f.key, err, covered, &f.policy, now), now)
}

// keep stores the entry, unless the copy at hand is better.
func (f *fill) keep(e, old *entry, covered bool, now time.Time) (*landing, error) {
	if f.copy != nil && !mayReplace(&e.meta, &f.copy.entry.meta, f.state(f.copy.entry, now)) {
		err := fmt.Errorf("%s: %w", e.meta.Source, errLastResort)
		if e.meta.Negative {
			err = fmt.Errorf("%s: %w", e.meta.Source, errNo)
		}
		f.seen.refreshFailed.Inc()
		f.cache.failed.add(f.key, err, true, &f.policy, now)
		return f.copy, err
	}
	f.cache.failed.clear(f.key)
	return &landing{entry: e, stored: f.store(f.key, e, old), covered: covered}, nil
}

// entryOf lays out content as an entry. The old one, when there is one with the
// same content, lends its date of change; and its generation, unless it was
// purged.
func (s *Space) entryOf(key string, c *Content, born time.Time, old *entry) (*entry, error) {
	m := &Meta{Created: born, Modified: born, Spread: uint8(rand.Uint32())}
	gen := rand.Uint64()
	if old.raw != nil && old.digest == digestOf(c) {
		if old.meta.Modified.Before(born) {
			m.Modified = old.meta.Modified
		}
		if !s.overtaken(key, &old.meta, time.Now()) {
			gen = old.gen
		}
	}
	raw, err := encode(c, m, gen)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	e, err := parse(raw)
	return &e, err
}

// store keeps the entry in both tiers, and counts whether it was news.
func (s *Space) store(key string, e, old *entry) bool {
	if e.meta.Negative && s.policy.Negative == 0 {
		return false
	}
	same := old.raw != nil && old.digest == e.digest
	if same {
		s.seen.refreshSame.Inc()
	} else {
		s.seen.refreshNew.Inc()
	}
	s.toFar(key, e)
	stored := false
	if old.gen == e.gen && old.split() && s.complete(key, old) {
		stored = s.cache.near.renew(s.policy.Class, key, e, old)
	} else {
		stored = s.cache.near.put(s.policy.Class, key, e)
	}
	if s.overtaken(key, &e.meta, time.Now()) {
		s.cache.near.drop(s.policy.Class, key) // a drop came between
	}
	return stored
}

// loadSafely turns a panic into an error: inside a flight it would end the
// process.
func loadSafely(ctx context.Context, load Loader, covered bool) (c Content, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("load panicked: %v\n%s", r, debug.Stack())
		}
	}()
	return load.Load(ctx, covered)
}

// within marks the context of a fill, for the fills that it asks for.
type within struct{}

// countedAs is whom a fill that is begun under the context counts for.
func (s *Space) countedAs(ctx context.Context) string {
	if ctx.Value(within{}) != nil {
		return ""
	}
	return s.endpoint
}
