package cache

import (
	"fmt"
	"time"

	"sundry/cache/entry"
	"sundry/cache/near"
	"sundry/cache/policy"
)

// Want says which representation a caller asks for.
type Want struct {
	Form   int           // index into Content.Forms
	Accept entry.Codings // what the caller can decode
}

// Tier is where an answer was found.
type Tier uint8

// The tiers. Upstream means that it was just filled.
const (
	Upstream Tier = iota
	Near
	Far
)

// String is the tier's name in Cache-Status and in metrics.
func (t Tier) String() string { return [...]string{"upstream", "memory", "redis"}[min(t, Far)] }

// Answer is what the cache answers, a hit or not, ready to be written.
type Answer struct {
	State     policy.State
	Tier      Tier
	Left      time.Duration // of freshness; negative when stale
	Age       time.Duration
	Stored    bool  // just filled and stored
	Coalesced bool  // waited for another caller's fill
	Refreshed bool  // the caller waited while it replaced a stale entry
	Failed    error // why the refresh failed, if a stale copy is served as fallback
	Meta      entry.Meta
	Message   string // of a negative answer
	// Missing means that the answer has no such form.
	Missing bool
	// Random means that it was picked from a pool.
	Random bool
	Rep    entry.Rep
}

// fromHot describes an entry of the hot table, in the best coding that is accepted and
// has been made.
func (s *Space) fromHot(r *near.Hot, want Want, now time.Time, answer *Answer) {
	rep, err := r.Pick(want.Form, r.Record)
	if err != nil {
		*answer = Answer{State: policy.Gone} // not reached: its layout was checked
		return
	}
	s.cache.near.Code(r, want.Form, want.Accept, &rep)
	state, left := s.stateBy(r.DeadlineUnder(&s.policy), r.Key, &r.Meta, now)
	s.describe(answer, &r.Entry, want, rep, now)
	answer.State, answer.Left, answer.Tier = state, left, Near
}

// state is an entry's state under the policy and the purges in force, and how long
// it is still fresh.
func (s *Space) state(key string, m *entry.Meta, now time.Time) (policy.State, time.Duration) {
	return s.stateBy(s.policy.Deadline(m), key, m, now)
}

// stateBy is state by a deadline that is known already.
func (s *Space) stateBy(deadline time.Time, key string, m *entry.Meta, now time.Time) (policy.State, time.Duration) {
	state, left := s.policy.StateBy(deadline, m, now)
	if before := s.keyPurgedBefore(key, now); m.MadeBefore(before, now) {
		return policy.Gone, min(left, before.Sub(now))
	}
	return s.purge.Load().Apply(m, &s.policy, now, state, left)
}

// answerOf describes an entry with its state at now.
func (s *Space) answerOf(key string, e *entry.Entry, rep entry.Rep, want Want, now time.Time, tier Tier) Answer {
	var answer Answer
	s.describe(&answer, e, want, rep, now)
	answer.Tier = tier
	answer.State, answer.Left = s.state(key, &e.Meta, now)
	return answer
}

// describe fills in an answer, but for its state and tier.
func (s *Space) describe(answer *Answer, e *entry.Entry, want Want, rep entry.Rep, now time.Time) {
	bodies, _ := e.Form(want.Form)
	*answer = Answer{
		Age: max(0, now.Sub(e.Meta.Created)), Meta: e.Meta, Message: e.Message, Rep: rep,
		Missing: bodies == 0 && !e.Meta.Negative, Random: bodies > 1,
	}
}

// resultAnswer picks the caller's representation from a flight's result.
func (s *Space) resultAnswer(key string, got *flightResult, want Want, now time.Time) (Answer, error) {
	rep, err := s.cache.near.Pick(s.policy.Class, key, got.entry, want.Form)
	if err != nil {
		return Answer{}, fmt.Errorf("%s: %w", s.name, err)
	}
	answer := s.answerOf(key, got.entry, rep, want, now, got.tier)
	answer.Stored = got.stored
	return answer, nil
}
