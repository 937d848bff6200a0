package upstreams

import (
	"context"
	"maps"
	"slices"
	"time"
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
	// Fetch returns the result that is cached under the id, else calls ask, once
	// for all concurrent callers. created is when it was asked for. ask runs on a
	// context of its own and may outlive the caller's. Its value must be
	// JSON-ready.
	Fetch(ctx context.Context, id string, ask func(context.Context) (any, error)) (value any, created time.Time, err error)
	// Drop removes the result that is cached under the id, unless it was created
	// after the one that Fetch returned with this time.
	Drop(id string, created time.Time)
}

// Fork is a copy for work that may outlive the attempt. It has no memory reserved.
func (in *Input) Fork() *Input {
	sub, env := *in, *in.Env
	sub.Values, env.Vars = maps.Clone(in.Values), maps.Clone(in.Env.Vars)
	sub.shared, sub.Env, sub.sessions = false, &env, slices.Clip(in.sessions)
	sub.Memory, sub.derived = in.Memory.fork(), slices.Clip(in.derived)
	if in.stages != nil {
		sub.stages = &[]Stage{}
	}
	return &sub
}

// Join takes over the stages and derived secrets of a fork, whose work has ended.
func (in *Input) Join(sub *Input) {
	in.derived = sub.derived // which began as a copy of in's
	if in.stages != nil {
		*in.stages = append(*in.stages, *sub.stages...)
	}
}

// NoteCreated notes the creation time of a cached result that is part of the answer.
func (in *Input) NoteCreated(at time.Time) {
	if in.since.IsZero() || at.Before(in.since) {
		in.since = at
	}
}
