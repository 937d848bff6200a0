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

// entry is what was kept of a step that let us in.
type entry struct {
	shelf Shelf
	id    string
}

// shut forgets what let us in: it does not any more.
func (in *input) shut() {
	for _, e := range in.entry {
		e.shelf.Drop(e.id)
	}
}

// fork is a copy for work that may outlive the attempt.
func (in *input) fork() *input {
	sub, env := *in, *in.env
	sub.values, env.Vars = maps.Clone(in.values), maps.Clone(in.env.Vars)
	sub.env, sub.entry = &env, nil
	sub.room.taken = 0
	if in.note != nil {
		sub.note = &[]Stage{}
	}
	return &sub
}

// join takes over what a fork showed. Its work must be done.
func (in *input) join(sub *input) {
	in.derived = sub.derived // which began with its own
	if in.note != nil {
		*in.note = append(*in.note, *sub.note...)
	}
}

// dates notes the birth of an outcome that the answer is made of.
func (in *input) dates(born time.Time) {
	if in.since.IsZero() || born.Before(in.since) {
		in.since = born
	}
}
