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

// LastChanged is when the cache settings of an endpoint were last changed, by anybody, as
// far as the audit log goes back; zero for never.
func (s *Settings) LastChanged(endpoint string) time.Time { return s.lastChanged(DoCache, endpoint) }

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
