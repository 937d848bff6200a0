package cache

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Loader fills a key. It is called under a context of its own, which ends when
// the last caller who waited left; that of a refresh does not. A definite no is
// a Content with Negative set, not an error. covered tells that a copy is at hand
// which may still stand in: sources that are a last resort need not be asked.
type Loader interface {
	Load(ctx context.Context, covered bool) (Content, error)
}

// Space is one endpoint's part of the cache: its policy and its counters.
type Space struct {
	name     string
	endpoint string
	policy   Policy
	cache    *Cache
	mark     *atomic.Pointer[Purge]
	drops    *atomic.Pointer[drops]
	seen     spaceMetrics
}

// Space opens an endpoint's part, whose keys begin with its name and a colon.
// Two spaces of one name share their entries, as those before and after a
// reload do. A name such as sjbz/pictures is for what an endpoint keeps under a
// rule of its own beside its answers: a purge of the endpoint reaches it too.
func (c *Cache) Space(name string, p Policy) *Space {
	endpoint, _, _ := strings.Cut(name, "/")
	s := &Space{
		name: name, endpoint: endpoint, policy: p, cache: c,
		mark: c.marks.slot(endpoint), drops: c.drops.slot(name), seen: c.seen.space(name),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spaces[name] = s
	return s
}

// Spaces are all of an endpoint as they were opened last: its own first, then
// those beside it, by name.
func (c *Cache) Spaces(endpoint string) []*Space {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*Space
	for _, name := range slices.Sorted(maps.Keys(c.spaces)) {
		if name == endpoint || strings.HasPrefix(name, endpoint+"/") {
			all = append(all, c.spaces[name])
		}
	}
	return all
}

// Name is the endpoint's, or the endpoint's and the part's.
func (s *Space) Name() string { return s.name }

// Policy is the rule in force.
func (s *Space) Policy() *Policy { return &s.policy }

// PausedError answers for a key whose last fills failed, until it is tried
// again.
type PausedError struct {
	Err   error         // what the last try came to
	Retry time.Duration // until the next one
}

func (e *PausedError) Error() string { return e.Err.Error() }

// Unwrap gives the failure that began the pause.
func (e *PausedError) Unwrap() error { return e.Err }

// Fetch answers from the cache, or fills the key. It is the package's one
// verb; which way it takes is written in the entry's state. Who decides between
// the two whether there is room to wait calls Peek and Await.
//
// The error is the loader's, the caller's context's, a PausedError, or ErrBusy.
func (s *Space) Fetch(ctx context.Context, key string, want Want, load Loader) (hit Hit, err error) {
	if s.look(ctx, key, want, load, &hit) {
		return hit, nil
	}
	return s.Await(ctx, key, want, load, &hit)
}

// Peek answers out of the near tier what needs no waiting: what is fresh, and
// what is stale within grace, whose refresh it begins. Where it is not ready, the
// hit is what is there instead, for Await or Fallback.
func (s *Space) Peek(ctx context.Context, key string, want Want, load Loader) (hit Hit, ready bool) {
	ready = s.look(ctx, key, want, load, &hit)
	return hit, ready
}

// look is Peek, which writes the hit where it is wanted: it is too large to be
// handed on for nothing.
func (s *Space) look(ctx context.Context, key string, want Want, load Loader, hit *Hit) (ready bool) {
	if !s.policy.Stores() {
		return false
	}
	now := time.Now()
	if !s.peek(key, want, now, hit) {
		s.seen.nearMiss.Inc()
		return false
	}
	switch hit.State {
	case Fresh:
	case Eager:
		s.refresh(ctx, key, load, !hit.Meta.weak(), now)
	case Grace:
		s.seen.nearStale.Inc()
		s.refresh(ctx, key, load, !hit.Meta.weak(), now)
		s.seen.age.Observe(hit.Age.Seconds())
		return true
	case Stale:
		s.seen.nearStale.Inc()
		return false
	default:
		s.seen.nearMiss.Inc()
		return false
	}
	s.seen.nearHit.Inc()
	s.seen.age.Observe(hit.Age.Seconds())
	return true
}

// Await fills the key, or waits for who does, after a Peek that found no more
// than seen. Its errors are Fetch's.
func (s *Space) Await(ctx context.Context, key string, want Want, load Loader, seen *Hit) (Hit, error) {
	switch {
	case !s.policy.Stores():
		return s.bypass(ctx, want, load)
	case seen.State != Stale:
		seen = nil
	}
	return s.await(ctx, key, want, load, seen)
}

// Fallback serves what a Peek saw to a caller who cannot be let wait, because of
// err: false where it is no longer good for that.
func (s *Space) Fallback(key string, seen *Hit, err error) (Hit, bool) {
	if seen.State != Stale || !s.stands(key, seen, time.Now()) {
		return Hit{}, false
	}
	return s.fallback(seen, err), true
}

// peek looks into the near tier.
func (s *Space) peek(key string, want Want, now time.Time, hit *Hit) bool {
	e, rep, ok := s.cache.near.get(s.policy.Class, key, want)
	if ok {
		*hit = s.hit(key, &e, rep, want, now, Near)
	}
	return ok
}

// judge is what the policy, purges and drops leave of an entry.
func (s *Space) judge(key string, m *Meta, now time.Time) (State, time.Duration) {
	state, left := s.policy.State(m, now)
	if s.drops.Load() != nil {
		if before := s.droppedBefore(key, now); !m.Created.After(before) {
			return Gone, min(left, before.Sub(now))
		}
	}
	return s.mark.Load().apply(m, &s.policy, now, state, left)
}

// hit says what an entry is good for now.
func (s *Space) hit(key string, e *entry, rep Rep, want Want, now time.Time, tier Tier) Hit {
	state, left := s.judge(key, &e.meta, now)
	bodies, _ := e.form(want.Form)
	return Hit{
		State: state, Tier: tier, Left: left, Age: max(0, now.Sub(e.meta.Created)),
		Meta: e.meta, Message: e.message, Rep: rep,
		Missing: bodies == 0 && !e.meta.Negative, Random: bodies > 1,
	}
}

// bypass fills for one caller and keeps nothing.
func (s *Space) bypass(ctx context.Context, want Want, load Loader) (Hit, error) {
	done, err := s.cache.flight.alone(s.countedAs(ctx))
	if err != nil {
		return Hit{}, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, within{}, true), s.policy.FillTimeout)
	defer cancel()
	content, err := loadSafely(ctx, load, false)
	if err != nil {
		return Hit{}, err
	}
	e, err := s.entryOf("", &content, time.Now(), &entry{})
	if err != nil {
		return Hit{}, err
	}
	hit, err := s.present("", &landing{entry: e}, want, time.Now())
	hit.State, hit.Left = Absent, 0
	return hit, err
}

// present picks what the caller wants of what a flight brought.
func (s *Space) present(key string, got *landing, want Want, now time.Time) (Hit, error) {
	rep, err := s.cache.near.pick(s.policy.Class, key, got.entry, want)
	if err != nil {
		return Hit{}, fmt.Errorf("%s: %w", s.name, err)
	}
	hit := s.hit(key, got.entry, rep, want, now, got.tier)
	hit.Stored = got.stored
	return hit, nil
}

// await joins the key's flight. Who has a stale entry waits for the soft
// timeout only, from when on the flight is a refresh; who leaves does not disturb
// the others, but the last of them ends it.
func (s *Space) await(ctx context.Context, key string, want Want, load Loader, stale *Hit) (Hit, error) {
	if wait, err := s.cache.failed.paused(key, stale != nil && !stale.Meta.weak(), time.Now()); err != nil {
		if stale == nil {
			s.seen.paused.Inc()
			return Hit{}, &PausedError{err, wait}
		}
		return s.fallback(stale, err), nil
	}
	var soft <-chan time.Time
	if stale != nil {
		timer := time.NewTimer(s.policy.SoftTimeout)
		defer timer.Stop()
		soft = timer.C
	}
	flight, results, led, err := s.cache.flight.join(key, s.countedAs(ctx), func(life context.Context) (*landing, error) {
		return s.fill(life, ctx, key, load, false)
	})
	if err != nil {
		return s.insteadOf(err, key, want, nil, stale)
	}
	defer s.cache.flight.leave(flight)
	for {
		select {
		case r := <-results:
			if !led {
				s.seen.coalesced.Inc()
			}
			got, _ := r.Val.(*landing) // none with some errors
			if r.Err != nil {
				return s.insteadOf(r.Err, key, want, got, stale)
			}
			hit, err := s.landed(ctx, key, want, load, got)
			hit.Coalesced = !led
			hit.Refreshed = hit.Tier == Upstream && (got.covered || stale != nil)
			return hit, err
		case <-soft:
			if s.stands(key, stale, time.Now()) {
				s.cache.flight.keep(flight)
				return s.fallback(stale, errSlow), nil
			}
		case <-ctx.Done():
			return Hit{}, ctx.Err()
		}
	}
}

var errSlow = errors.New("refresh took longer than the soft timeout")

// landed turns what a flight brought into this caller's answer.
func (s *Space) landed(ctx context.Context, key string, want Want, load Loader, got *landing) (Hit, error) {
	now := time.Now()
	hit, err := s.present(key, got, want, now)
	switch {
	case err != nil && got.tier == Near: // a part was evicted since the flight looked
		s.cache.near.drop(s.policy.Class, key)
		return s.await(ctx, key, want, load, nil)
	case err != nil:
		return Hit{}, err
	}
	if hit.State == Grace {
		s.refresh(ctx, key, load, !hit.Meta.weak(), now)
	}
	s.seen.age.Observe(hit.Age.Seconds())
	return hit, nil
}

// insteadOf serves a copy in place of a flight that failed: the one that it
// found on its way, or the caller's own.
func (s *Space) insteadOf(err error, key string, want Want, found *landing, stale *Hit) (Hit, error) {
	now := time.Now()
	if found != nil {
		if hit, err2 := s.present(key, found, want, now); err2 == nil && s.stands(key, &hit, now) {
			return s.fallback(&hit, err), nil
		}
	}
	if s.stands(key, stale, now) {
		return s.fallback(stale, err), nil
	}
	return Hit{}, err
}

// stands tells whether a stale entry that was found a while ago may still
// stand in: it may have been purged, or have ended.
func (s *Space) stands(key string, stale *Hit, now time.Time) bool {
	if stale == nil {
		return false
	}
	state, _ := s.judge(key, &stale.Meta, now)
	return usable(state)
}

// fallback serves a stale entry in place of a refresh.
func (s *Space) fallback(stale *Hit, err error) Hit {
	s.seen.stale.Inc()
	s.seen.staleAge.Observe(max(0, -stale.Left).Seconds())
	s.seen.age.Observe(stale.Age.Seconds())
	stale.Failed = err
	return *stale
}
