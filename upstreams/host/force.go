package host

import "fmt"

// Force is an operator's word on a breaker.
type Force uint8

// What an operator can say.
const (
	Unforced    Force = iota // the breaker decides by itself
	ForceOpen                // no calls
	ForceClosed              // calls, whatever comes of them
)

// Force holds the breaker, or lets go of it.
func (h *Host) Force(f Force) { h.forced.Store(uint32(f)) }

// Forced is the word in force.
func (h *Host) Forced() Force { return Force(h.forced.Load()) }

// String is auto, open or closed.
func (f Force) String() string { return [...]string{"auto", "open", "closed"}[min(f, ForceClosed)] }

// ParseForce reads what String writes.
func ParseForce(s string) (Force, error) {
	for f := range ForceClosed + 1 {
		if f.String() == s {
			return f, nil
		}
	}
	return Unforced, fmt.Errorf("%q: want auto, open or closed", s)
}
