package upstreams

import (
	"context"
	"maps"
	"time"
)

// StepCache keeps what steps brought for calls to come: signing keys, the songs of
// a list.
type StepCache interface {
	// Open opens the place of one step's outcomes.
	Open(endpoint string, rule StepCacheRule) StepResults
}

// StepCacheRule says how a step's outcomes are kept.
type StepCacheRule struct {
	// Step is its name: one of small letters, digits and _.
	Step string
	// Version changes with what the step makes of a reply.
	Version string
	// Lasts is how long an outcome serves.
	Lasts time.Duration
	// Timeout bounds one asking.
	Timeout time.Duration
	// Shared outcomes are few and for everybody; the others are of callers'
	// input, and must not drive those out.
	Shared bool
}

// StepResults keeps the outcomes of one step. It is safe for concurrent use.
type StepResults interface {
	// Fetch gives what is kept under the id, else asks, once for all who want
	// it at the same time. born is when it was asked for. ask runs on a context
	// of its own and may outlive the caller's. What it brings must be
	// JSON-ready.
	Fetch(ctx context.Context, id string, ask func(context.Context) (any, error)) (value any, born time.Time, err error)
	// Drop forgets what is kept under the id.
	Drop(id string)
}

// Session is what was kept of a step that let us in.
type Session struct {
	Results StepResults
	ID      string
}

// forgetSessions forgets what let us in: it does not any more.
func (in *Input) forgetSessions() {
	for _, e := range in.Sessions {
		e.Results.Drop(e.ID)
	}
}

// Fork is a copy for work that may outlive the attempt.
func (in *Input) Fork() *Input {
	sub, env := *in, *in.Env
	sub.Values, env.Vars = maps.Clone(in.Values), maps.Clone(in.Env.Vars)
	sub.Env, sub.Sessions = &env, nil
	sub.Memory.taken = 0
	if in.stages != nil {
		sub.stages = &[]Stage{}
	}
	return &sub
}

// Join takes over what a fork showed. Its work must be done.
func (in *Input) Join(sub *Input) {
	in.derived = sub.derived // which began with its own
	if in.stages != nil {
		*in.stages = append(*in.stages, *sub.stages...)
	}
}

// NoteCreated notes the birth of an outcome that the answer is made of.
func (in *Input) NoteCreated(born time.Time) {
	if in.since.IsZero() || born.Before(in.since) {
		in.since = born
	}
}
