package policy

import (
	"time"

	"sundry/cache/entry"
)

// Purge is an operator's purge of an endpoint. It applies to the entries that were
// created, or any part of which was created, before it. It takes effect when an entry
// is read, in either tier, so that it needs no walk through them and reaches what
// Redis still holds. The zero value purges nothing.
type Purge struct {
	// Soft makes entries created before it stale: the next caller refreshes
	// them, and they are still served as fallback when that fails.
	Soft time.Time `json:"soft,omitzero"`
	// Hard makes entries created before it unusable.
	Hard time.Time `json:"hard,omitzero"`
}

// AllEndpoints names the purge of all endpoints.
const AllEndpoints = "*"

// Apply is the entry's state after the purge, from its state by the policy.
func (p *Purge) Apply(meta *entry.Meta, under *Policy, now time.Time, state State, left time.Duration) (State, time.Duration) {
	if p == nil {
		return state, left
	}
	switch oldest := meta.OldestPart(); {
	case meta.MadeBefore(p.Hard, now):
		return Gone, min(left, p.Hard.Sub(now))
	case oldest.After(p.Soft) || state >= Grace:
		return state, left
	case meta.Negative:
		return Gone, min(left, p.Soft.Sub(now))
	case under.Grace > 0:
		return Grace, min(left, p.Soft.Sub(now))
	}
	return Stale, min(left, p.Soft.Sub(now))
}

// Later returns the later one of two times.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
