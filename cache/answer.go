package cache

import (
	"time"

	"sundry/cache/entry"
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
