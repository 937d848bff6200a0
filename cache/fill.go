package cache

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"
)

// landing is what a flight brings to everyone who waits for it.
type landing struct {
	entry  *entry
	tier   Tier
	stored bool
}

// refresh begins at most one fill of the key in the background, unless a
// failure lately told to wait.
func (s *Space) refresh(ctx context.Context, key string, load Loader, now time.Time) {
	if _, err := s.cache.failed.paused(key, now); err != nil || !s.cache.claim(key) {
		return
	}
	results := s.cache.flight.DoChan(key, func() (any, error) {
		return s.fill(ctx, key, load, true)
	})
	go func() {
		defer s.cache.unclaim(key)
		if r := <-results; r.Err != nil {
			s.cache.log.Debug("refresh failed", "endpoint", s.name, "error", r.Err)
		}
	}()
}

// Warm fills the key unless it is fresh and not yet due for a refresh. It
// returns when that is done.
func (s *Space) Warm(ctx context.Context, key string, load Loader) error {
	if e, ok := s.cache.near.head(s.policy.Class, key); ok {
		if state, _ := s.judge(&e.meta, time.Now()); state == Fresh {
			return nil
		}
	}
	_, err, _ := s.cache.flight.Do(key, func() (any, error) { return s.fill(ctx, key, load, true) })
	return err
}

// fill runs inside the flight, on a context that no caller can cancel: near
// tier again, far tier, lease, load, store.
func (s *Space) fill(caller context.Context, key string, load Loader, behind bool) (*landing, error) {
	if !s.cache.enter() {
		return nil, context.Canceled
	}
	defer s.cache.busy.Done()
	s.cache.seen.fills.Inc()
	defer s.cache.seen.fills.Dec()
	ctx, cancel := s.detach(caller)
	defer cancel()

	// A flight that landed between this caller's look and its take-off has
	// stored the entry: without this second look it would be filled twice.
	if e, ok := s.cache.near.head(s.policy.Class, key); ok && s.state(&e) == Fresh && s.complete(key, &e) {
		return &landing{&e, Near, false}, nil
	}
	if e, ok := s.fromFar(ctx, key, behind); ok {
		return &landing{e, Far, false}, nil
	}
	held, release := s.lease(ctx, key)
	defer release()
	if !held {
		if e, ok := s.waitFar(ctx, key); ok {
			return &landing{e, Far, false}, nil
		}
	}
	return s.load(ctx, key, load)
}

// detach keeps the caller's values and drops its deadline; the fill ends at
// its own, or when the cache closes.
func (s *Space) detach(caller context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(caller), s.policy.FillTimeout)
	unhook := context.AfterFunc(s.cache.life, cancel)
	return ctx, func() { unhook(); cancel() }
}

func (s *Space) state(e *entry) State {
	state, _ := s.judge(&e.meta, time.Now())
	return state
}

// load asks the upstreams and stores what they say.
func (s *Space) load(ctx context.Context, key string, load Loader) (*landing, error) {
	content, err := loadSafely(ctx, load, false)
	now := time.Now()
	if err != nil {
		s.seen.refreshFailed.Inc()
		s.cache.failed.add(key, err, &s.policy, now)
		return nil, err
	}
	s.cache.failed.clear(key)
	old, had := s.cache.near.head(s.policy.Class, key)
	if !had {
		old = entry{}
	}
	e, err := s.entryOf(&content, now, &old)
	if err != nil {
		return nil, err
	}
	return &landing{e, Upstream, s.store(key, e, &old)}, nil
}

// entryOf lays out content as an entry born now. The old entry, when there is
// one with the same content, lends its generation and its date of change.
func (s *Space) entryOf(c *Content, now time.Time, old *entry) (*entry, error) {
	m := &Meta{Born: now, Modified: now, Spread: uint8(rand.Uint32())}
	gen := rand.Uint64()
	if old != nil && old.raw != nil && old.digest == digestOf(c) {
		m.Modified, gen = old.meta.Modified, old.gen
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
	same := old.raw != nil && old.gen == e.gen
	if same {
		s.seen.refreshSame.Inc()
	} else {
		s.seen.refreshNew.Inc()
	}
	s.cache.toFar(&s.policy, key, e)
	if same && old.split() && s.complete(key, old) {
		return s.cache.near.renew(s.policy.Class, key, e)
	}
	return s.cache.near.put(s.policy.Class, key, e)
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
