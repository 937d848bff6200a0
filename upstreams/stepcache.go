package upstreams

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"sundry/upstreams/host"
)

// StepCache caches the results of steps for later calls: signing keys, sessions,
// the songs of a list.
type StepCache interface {
	// Open opens the cache of one step.
	Open(endpoint string, rule StepCacheRule) StepResults
}

// StepCacheRule says how the results of a step are cached.
type StepCacheRule struct {
	// Step is its name: lower-case letters, digits and underscores.
	Step string
	// Version changes with what the step makes of a reply.
	Version string
	// Lasts is how long a result is used.
	Lasts time.Duration
	// Timeout bounds one request for it.
	Timeout time.Duration
	// Session results say who asks, and are no part of an answer.
	Session bool
	// Shared results are few and the same for everybody; the others depend on
	// callers' input, and must not evict those.
	Shared bool
}

// StepResults are the cached results of one step. It is safe for concurrent use.
type StepResults interface {
	// Get returns the result that is cached under the id, else calls load, once
	// for all concurrent callers. created is when it was loaded. load runs on a
	// context of its own and may outlive the caller's. Its value must be
	// JSON-ready.
	Get(ctx context.Context, id string, load func(context.Context) (any, error)) (value any, created time.Time, err error)
	// Drop removes the result that is cached under the id, unless it was created
	// after the one that Get returned with this time.
	Drop(id string, created time.Time)
}

// Fork is a copy for work that may outlive the attempt. It has no memory reserved.
func (a *Attempt) Fork() *Attempt {
	sub, env := *a, *a.Env
	sub.Values, env.Vars = maps.Clone(a.Values), maps.Clone(a.Env.Vars)
	sub.shared, sub.Env, sub.sessions = false, &env, slices.Clip(a.sessions)
	sub.Memory = a.Memory.fork()
	if a.stages != nil {
		sub.stages = &[]Stage{}
	}
	return &sub
}

// Join takes over the stages of a fork, whose work has ended.
func (a *Attempt) Join(sub *Attempt) {
	if a.stages != nil {
		*a.stages = append(*a.stages, *sub.stages...)
	}
}

// NoteCreated notes the creation time of a cached result that is part of the answer.
func (a *Attempt) NoteCreated(at time.Time) {
	if a.since.IsZero() || at.Before(a.since) {
		a.since = at
	}
}

// youngSession is the age below which a refused session may have ended only if it was
// accepted before. A host that refuses one which it has just given refuses everybody: it is
// failing, and one more log-in would only be one more request. From a minute on, a session
// that nobody has used with success may have ended unnoticed; then a log-in a minute is
// little, and no refusal by mistake lasts as long as the session is cached. Not the age
// alone decides, because some services end sessions after seconds, or with the next log-in.
const youngSession = time.Minute

// Sessions are the results of a step that logs in. It is safe for concurrent use.
type Sessions struct {
	Results StepResults
	// accepted is when the newest was created that the upstream has accepted, in Unix
	// nanoseconds; 0: none was.
	accepted atomic.Int64
}

// accept notes that the upstream accepts a session.
func (s *Sessions) accept(created time.Time) {
	for at := s.accepted.Load(); created.UnixNano() > at && !s.accepted.CompareAndSwap(at, created.UnixNano()); {
		at = s.accepted.Load()
	}
}

// session is one that an attempt uses.
type session struct {
	of      *Sessions
	id      string
	created time.Time
	own     bool // made by the attempt itself
}

// mayHaveEnded reports whether a refusal may be due to its age, or to another log-in.
func (s session) mayHaveEnded() bool {
	return !s.own && (s.created.UnixNano() <= s.of.accepted.Load() || time.Since(s.created) >= youngSession)
}

// UseSession notes that the attempt uses a session. own is one that it has made itself.
func (a *Attempt) UseSession(of *Sessions, id string, created time.Time, own bool) {
	a.sessions = append(a.sessions, session{of, id, created, own})
}

// RefusedSession reports whether an error, or nil, may be due to a session that has ended.
// The attempt is then made once more, with a new one; unless its sessions have just been
// renewed.
func (a *Attempt) RefusedSession(err error) bool {
	return err != nil && !a.renewed && KindOf(err) == Limited && slices.ContainsFunc(a.sessions, session.mayHaveEnded)
}

// Tolerate notes that the attempt goes on without what failed. It then says nothing for
// the sessions that were refused.
func (a *Attempt) Tolerate(err error) {
	if KindOf(err) == Limited {
		a.sessions = nil
	}
}

// healthOf is what the result of a request says about its host: nothing, where it is made
// once more with a new session.
func (a *Attempt) healthOf(err error) host.Health {
	if a.RefusedSession(err) {
		return host.Ignored
	}
	return healthOf(err)
}

// acceptSessions notes that the upstream answers to those of the attempt.
func (a *Attempt) acceptSessions() {
	for _, s := range a.sessions {
		s.of.accept(s.created)
	}
}

// forgetSessions drops the sessions that the upstream no longer accepts, and none that
// others have made since.
func (a *Attempt) forgetSessions() {
	for _, s := range a.sessions {
		if !s.own {
			s.of.Results.Drop(s.id, s.created)
		}
	}
}
