package upstreams

import (
	"context"
	"maps"
	"time"
)

// Keeper keeps what steps brought for calls to come: signing keys, the songs of
// a list.
type Keeper interface {
	// Shelf opens the place of one step's outcomes.
	Shelf(endpoint string, rule ShelfRule) Shelf
}

// ShelfRule says how a step's outcomes are kept.
type ShelfRule struct {
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

// Shelf keeps the outcomes of one step. It is safe for concurrent use.
type Shelf interface {
	// Fetch gives what is kept under the id, else asks, once for all who want
	// it at the same time. born is when it was asked for. ask runs on a context
	// of its own and may outlive the caller's. What it brings must be
	// JSON-ready.
	Fetch(ctx context.Context, id string, ask func(context.Context) (any, error)) (value any, born time.Time, err error)
	// Drop forgets what is kept under the id.
	Drop(id string)
}

// Entry is what was kept of a step that let us in.
type Entry struct {
	Shelf Shelf
	ID    string
}

// shut forgets what let us in: it does not any more.
func (in *Input) shut() {
	for _, e := range in.Entry {
		e.Shelf.Drop(e.ID)
	}
}

// Fork is a copy for work that may outlive the attempt.
func (in *Input) Fork() *Input {
	sub, env := *in, *in.Env
	sub.Values, env.Vars = maps.Clone(in.Values), maps.Clone(in.Env.Vars)
	sub.Env, sub.Entry = &env, nil
	sub.Room.taken = 0
	if in.note != nil {
		sub.note = &[]Stage{}
	}
	return &sub
}

// Join takes over what a fork showed. Its work must be done.
func (in *Input) Join(sub *Input) {
	in.derived = sub.derived // which began with its own
	if in.note != nil {
		*in.note = append(*in.note, *sub.note...)
	}
}

// Dates notes the birth of an outcome that the answer is made of.
func (in *Input) Dates(born time.Time) {
	if in.since.IsZero() || born.Before(in.since) {
		in.since = born
	}
}
