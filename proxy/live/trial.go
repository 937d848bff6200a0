package live

import (
	"errors"
	"slices"
	"time"
)

// Who makes changes where no operator does: the autopilot, and the service itself.
// Operators must have other names.
const (
	ByAutopilot = "autopilot"
	BySundry    = "sundry"
)

// ErrOvertaken means that the target was changed since the change was decided about.
var ErrOvertaken = errors.New("somebody else was first")

// Trial is the last step of the autopilot on an endpoint, with what it expects of it. It is
// stored with the settings, so that any instance can go on where another one has stopped.
type Trial struct {
	// At is when the step was taken.
	At time.Time `json:"at"`
	// From and To are the TTLs before and after it.
	From time.Duration `json:"from"`
	To   time.Duration `json:"to"`
	// Before is the TTL among the cache settings before; "" for none.
	Before string `json:"before,omitempty"`
	// Calls an hour and the share of old answers that were predicted, for that many
	// requests per second; OldAtMost if the content changes as often as is likely at most.
	Calls     float64 `json:"calls"`
	Old       float64 `json:"old"`
	OldAtMost float64 `json:"old_at_most"`
	Requests  float64 `json:"requests"`
	// Reverted is when the step was reverted because the prediction failed; zero: it was
	// not. Reverts is how many were in a row, and Until when the next step may be taken.
	Reverted time.Time `json:"reverted,omitzero"`
	Reverts  int       `json:"reverts,omitempty"`
	Until    time.Time `json:"until,omitzero"`

	Unknown Unknown `json:"-"`
}

// try begins a trial, or ends the one that there is: t is nil where an operator has decided.
func (s *Settings) try(endpoint string, t *Trial) {
	if t == nil {
		delete(s.Trials, endpoint)
		return
	}
	next := *t
	next.Unknown = t.Unknown.with(s.Trials[endpoint].Unknown)
	setOrDelete(&s.Trials, endpoint, next, true)
}

// LastChanged is when the cache settings of an endpoint were last changed: by anybody, as
// far as the audit log goes back, and by hand; zero for never.
func (s *Settings) LastChanged(endpoint string) (last, byHand time.Time) {
	return s.lastChanged(DoCache, endpoint), s.lastChangedByHand(DoCache, endpoint)
}

// lastChangedByHand returns when an operator last changed a target; zero for never. Of
// breakers the audit log alone knows.
func (s *Settings) lastChangedByHand(do, target string) (at time.Time) {
	if do == DoCache {
		at = s.ByHand[target]
	}
	for _, r := range slices.Backward(s.Audit) {
		if r.Do == do && r.Target == target && r.By != ByAutopilot {
			return later(at, r.At)
		}
	}
	return at
}

// setByHand notes that an operator changed the cache settings of an endpoint.
func (s *Settings) setByHand(endpoint string, at time.Time) {
	setOrDelete(&s.ByHand, endpoint, later(s.ByHand[endpoint], at), true)
}
