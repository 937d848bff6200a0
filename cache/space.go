package cache

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sundry/cache/entry"
	"sundry/cache/near"
	"sundry/cache/policy"
	"sundry/metrics/panics"
)

// Loader fills a key. It is called with a context of its own, which ends when
// the last waiter has left; that of a refresh does not. A negative answer is a
// Content with Negative set, not an error. With hasCopy, a usable copy exists:
// sources that are a last resort need not be asked.
type Loader interface {
	Load(ctx context.Context, hasCopy bool) (entry.Content, error)
}

// Space is one endpoint's part of the cache: its policy and its counters.
type Space struct {
	name     string
	endpoint string
	policy   policy.Policy
	cache    *Cache
	metrics  spaceMetrics
	*spacePurges
	// sampled is how many requests the next one stands for that the observer is told
	// of; 0 and 1: it is told of each.
	sampled atomic.Uint32
	// farHits is how many looks into Redis have found something since one found nothing.
	farHits atomic.Uint32
}

// Space opens an endpoint's part, whose keys begin with its name and a colon.
// Two spaces of one name share their entries, as those before and after a
// reload do. A name such as sjbz/pictures is for what an endpoint caches beside
// its answers under another policy: a purge of the endpoint applies to it too.
func (c *Cache) Space(name string, p policy.Policy) *Space {
	endpoint, _, _ := strings.Cut(name, "/")
	s := &Space{name: name, endpoint: endpoint, policy: p, cache: c, metrics: c.metrics.space(name)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if before := c.spaces[name]; before != nil {
		s.spacePurges = before.spacePurges
	} else {
		s.spacePurges = &spacePurges{}
		s.purge.Store(c.purges.of(endpoint))
	}
	c.spaces[name] = s
	return s
}

// spaceOf is the space that a key belongs to, as it was opened last; nil: there is none.
func (c *Cache) spaceOf(key string) *Space {
	name, _, _ := strings.Cut(key, ":")
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spaces[name]
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

// Name is the name that the space was opened under: sjbz, or sjbz/pictures.
func (s *Space) Name() string { return s.name }

// Policy is the cache rule that the space was opened with.
func (s *Space) Policy() *policy.Policy { return &s.policy }

// Get answers from the cache, or fills the key, depending on the entry's
// state. Callers with an admission step between the two call GetNear and Await.
//
// The error is the loader's, the caller's context's, a PausedError, or ErrBusy.
func (s *Space) Get(ctx context.Context, key string, want Want, load Loader) (answer Answer, err error) {
	if s.GetNear(ctx, key, want, load, &answer) {
		return answer, nil
	}
	return s.Await(ctx, key, want, load, &answer)
}

// GetNear answers from the near tier without waiting: with a fresh entry, or with one within
// grace, whose refresh it starts in the background as it does for one that is due early.
// Otherwise pass what it has filled in on to Await or Fallback: the caller's answer, which is
// too large to be copied on the way.
func (s *Space) GetNear(ctx context.Context, key string, want Want, load Loader, answer *Answer) (ok bool) {
	if !s.policy.Stores() {
		return false
	}
	s.observeRequest(key)
	now := time.Now()
	r, found := s.readMemory(key, want, now, answer)
	switch {
	case !found, !policy.Usable(answer.State):
		s.metrics.nearMiss.Inc()
		return false
	case answer.State == policy.Stale:
		s.metrics.nearStale.Inc()
		return false
	case answer.State != policy.Fresh:
		if r == nil || r.ClaimRefresh(now) {
			s.refresh(ctx, key, load, answer, now)
		}
	default:
		s.confirm(ctx, key, load, answer.Meta.Created, now)
	}
	s.countAnswer(answer)
	return true
}

// GetHot answers from the hot table alone, with a fresh entry for which there is nothing
// to do but to send it: no refresh is due, and no confirmation. It starts nothing, allocates nothing and counts nothing: call
// Served where the answer is sent, GetNear where there is none.
func (s *Space) GetHot(key string, want Want, now time.Time, answer *Answer) bool {
	r := s.cache.near.Hot(key)
	if r == nil || !s.policy.Stores() {
		return false
	}
	s.fromHot(r, want, now, answer)
	switch {
	case s.usesFar() && s.cache.confirmed.Due(r.Hash, r.Meta.Created, now):
		return false
	case answer.State == policy.Fresh:
		return true
	case answer.State == policy.Eager:
		return !r.RefreshDue(now)
	default:
		return false
	}
}

// Served counts an answer of GetHot.
func (s *Space) Served(key string, answer *Answer) {
	s.observeRequest(key)
	s.countAnswer(answer)
}

func (s *Space) countAnswer(answer *Answer) {
	if answer.State == policy.Grace {
		s.metrics.nearStale.Inc()
	} else {
		s.metrics.nearHit.Inc()
	}
	s.metrics.age.Observe(answer.Age.Seconds())
}

// Await fills the key, or joins the flight that does, after GetNear had no answer; found is
// what it has filled in. Its errors are those of Get.
func (s *Space) Await(ctx context.Context, key string, want Want, load Loader, found *Answer) (Answer, error) {
	switch {
	case !s.policy.Stores():
		return s.bypass(ctx, want, load)
	case found.State != policy.Stale:
		found = nil
	}
	return s.await(ctx, key, want, load, found)
}

// Fallback returns the copy for a client that may not wait because of err: the one that
// GetNear found, or the better one that is in memory by now. ok is false if neither is usable.
func (s *Space) Fallback(key string, want Want, found *Answer, err error) (answer Answer, ok bool) {
	if found.State != policy.Stale {
		found = nil
	}
	return s.fallback(key, want, found, err)
}

// readMemory looks the key up in the hot table, then in the rest of the near tier. r is its
// entry in the hot table; nil means that it is not there.
func (s *Space) readMemory(key string, want Want, now time.Time, answer *Answer) (r *near.Hot, found bool) {
	if r = s.cache.near.Hot(key); r == nil {
		return nil, s.lookNear(key, want, now, answer)
	}
	s.fromHot(r, want, now, answer)
	return r, true
}

// lookNear looks the key up in the near tier.
func (s *Space) lookNear(key string, want Want, now time.Time, answer *Answer) bool {
	e, rep, ok := s.cache.near.Get(s.policy.Class, key, want.Form)
	if ok {
		*answer = s.answerOf(key, &e, rep, want, now, Near)
	}
	return ok
}

// bypass loads for one caller and stores nothing.
func (s *Space) bypass(ctx context.Context, want Want, load Loader) (Answer, error) {
	done, err := s.cache.flights.acquireUnshared(s.accountOf(ctx))
	if err != nil {
		return Answer{}, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, insideFill{}, true), s.policy.FillTimeout)
	defer cancel()
	content, err := s.loadSafely(ctx, load, false)
	if err != nil {
		return Answer{}, err
	}
	e, err := s.entryOf("", &content, time.Now(), &entry.Entry{})
	if err != nil {
		return Answer{}, err
	}
	answer, err := s.resultAnswer("", &flightResult{entry: e}, want, time.Now())
	answer.State, answer.Left = policy.Absent, 0
	return answer, err
}

// await joins the key's flight. A caller with a stale copy waits for the soft
// timeout at most; after that the flight goes on as a refresh. A caller that disconnects does not disturb the other waiters; the last one
// cancels it.
func (s *Space) await(ctx context.Context, key string, want Want, load Loader, stale *Answer) (Answer, error) {
	wait, err := s.cache.failures.paused(key, stale != nil && !stale.Meta.Replaceable(), time.Now())
	if err != nil {
		if stale == nil {
			s.metrics.paused.Inc()
			return Answer{}, &PausedError{err, wait}
		}
		return s.fallbackOrAwait(ctx, key, want, load, stale, err)
	}
	var softTimeout <-chan time.Time
	if stale != nil {
		if _, err := s.cache.withheld.paused(key, true, time.Now()); err != nil {
			return s.fallbackOrAwait(ctx, key, want, load, stale, err)
		}
		timer := time.NewTimer(s.policy.SoftTimeout)
		defer timer.Stop()
		softTimeout = timer.C
	}
	flight, started, err := s.cache.flights.join(key, s.accountOf(ctx))
	if err != nil {
		return s.fallbackOrError(err, key, want, nil, stale)
	}
	if started && stale == nil && !hasDeadline(ctx) {
		return s.lead(ctx, key, want, load, flight)
	}
	defer s.cache.flights.leave(flight)
	if started {
		s.cache.flights.launch(flight, s.newFill(ctx, key, load, false).run)
	}
	for {
		if flight.finished() {
			return s.answerAfter(ctx, key, want, load, flight, started, stale)
		}
		select {
		case <-flight.done:
		case <-softTimeout:
			if answer, ok := s.fallback(key, want, stale, errSlow); ok {
				s.cache.flights.detach(flight)
				return answer, nil
			}
		case <-ctx.Done():
			return Answer{}, ctx.Err()
		}
	}
}

// lead does the work of a flight that the caller has started in the caller's goroutine,
// which saves another one. A caller whose context ends is no longer a waiter, but
// returns only when the work has ended: so this is for callers without a deadline, who have
// disconnected then.
// During the look into the tiers, which its budget bounds, it remains one.
func (s *Space) lead(ctx context.Context, key string, want Want, load Loader, flight *flight) (Answer, error) {
	f := s.newFill(ctx, key, load, false)
	leave := func() { s.cache.flights.leave(flight) }
	if got, err := f.find(); got != nil || err != nil {
		defer leave()
		s.cache.flights.finish(flight, got, err)
		return s.answerAfter(ctx, key, want, load, flight, true, nil)
	}
	stays := context.AfterFunc(ctx, s.cache.panics.Func(panics.Fill, leave))
	defer func() {
		if stays() {
			leave()
		}
	}()
	s.cache.flights.do(flight, f.obtain)
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	return s.answerAfter(ctx, key, want, load, flight, true, nil)
}

func hasDeadline(ctx context.Context) bool {
	_, ok := ctx.Deadline()
	return ok
}

// answerAfter is what a finished flight is for one of its waiters.
func (s *Space) answerAfter(ctx context.Context, key string, want Want, load Loader, f *flight, started bool, stale *Answer) (Answer, error) {
	if !started {
		s.metrics.coalesced.Inc()
	}
	if f.err != nil {
		return s.fallbackOrError(f.err, key, want, f.result, stale)
	}
	answer, err := s.answerFrom(ctx, key, want, load, f.result)
	answer.Coalesced = !started
	answer.Refreshed = answer.Tier == Upstream && (f.result.hadCopy || stale != nil)
	return answer, err
}

var errSlow = errors.New("refresh took longer than the soft timeout")

// answerFrom turns a flight's result into this caller's answer.
func (s *Space) answerFrom(ctx context.Context, key string, want Want, load Loader, got *flightResult) (Answer, error) {
	now := time.Now()
	answer, err := s.resultAnswer(key, got, want, now)
	switch {
	case err != nil && got.tier == Near: // a part was evicted after the flight had found it
		s.cache.near.Remove(s.policy.Class, key)
		return s.await(ctx, key, want, load, nil)
	case err != nil:
		return Answer{}, err
	}
	if answer.State == policy.Grace {
		s.refresh(ctx, key, load, &answer, now)
	}
	s.metrics.age.Observe(answer.Age.Seconds())
	return answer, nil
}

// fallbackOrAwait returns the copy for a client whose key is not filled now because of err.
// If the copy has been purged or has expired since it was found, the client waits as one without a copy.
func (s *Space) fallbackOrAwait(ctx context.Context, key string, want Want, load Loader, stale *Answer, err error) (Answer, error) {
	if answer, ok := s.fallback(key, want, stale, err); ok {
		s.confirm(ctx, key, load, answer.Meta.Created, time.Now())
		return answer, nil
	}
	return s.await(ctx, key, want, load, nil)
}

// fallbackOrError returns a copy after a failed flight: the one that the flight found, the
// client's own, or the one in memory.
func (s *Space) fallbackOrError(err error, key string, want Want, found *flightResult, stale *Answer) (Answer, error) {
	if found != nil {
		now := time.Now()
		if answer, err2 := s.resultAnswer(key, found, want, now); err2 == nil && s.stillUsable(key, &answer, now) {
			stale = &answer
		}
	}
	if answer, ok := s.fallback(key, want, stale, err); ok {
		return answer, nil
	}
	return Answer{}, err
}

// stillUsable reports whether a stale copy that was found a while ago may still be
// served: it may have been purged or have expired since.
func (s *Space) stillUsable(key string, stale *Answer, now time.Time) bool {
	if stale == nil {
		return false
	}
	state, _ := s.state(key, &stale.Meta, now)
	return policy.Usable(state)
}

// fallback returns the copy that is served because a fill failed, was slow or was not started:
// stale, or a better one that is in memory by now. ok is false if neither is usable. Only an
// answer that is served as stale says that the refresh failed. One from memory counts as a hit if it is fresh or in grace.
func (s *Space) fallback(key string, want Want, stale *Answer, err error) (answer Answer, ok bool) {
	now := time.Now()
	if !s.stillUsable(key, stale, now) {
		stale = nil
	}
	better, found := s.betterInMemory(key, want, stale, now)
	if found {
		stale = &better
	}
	switch {
	case stale == nil:
		return Answer{}, false
	case stale.State != policy.Stale && found:
		s.countAnswer(stale)
		return *stale, true
	}
	s.metrics.stale.Inc()
	s.metrics.staleAge.Observe(max(0, -stale.Left).Seconds())
	s.metrics.age.Observe(stale.Age.Seconds())
	stale.Failed = err
	return *stale, true
}

// betterInMemory returns the usable copy in memory if it is better than the one that a client
// found earlier; nil means that it found none. Since then, the fill that it waits for may have
// found a newer one in Redis, which is itself too old to end the fill, or another fill has ended.
func (s *Space) betterInMemory(key string, want Want, earlier *Answer, now time.Time) (better Answer, ok bool) {
	_, found := s.readMemory(key, want, now, &better)
	if !found || !policy.Usable(better.State) || earlier != nil && !policy.Prefers(&better.Meta, &earlier.Meta, now) {
		return Answer{}, false
	}
	return better, true
}
