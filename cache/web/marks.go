package web

import (
	"slices"
	"strings"
	"time"

	"sundry/cache/purged"
)

// A mark in Redis tells that a URI was purged, or a group invalidated. Instances notify each other of marks.

// Marked is to be called for each mark that an instance has written, this one's too. What was requested before it is removed at once: Redis
// may be unavailable at the next request, or have lost the mark.
func (s *Store) Marked(farKey string, at time.Time) {
	key, ours := strings.CutPrefix(farKey, s.Name+":")
	if !ours || s.heardOfGroup(key, at) || strings.Contains(key, " ") || s.knowsPurge(key, at) { // keys of variants have a space, URIs do not
		return
	}
	heard := monotonic(Heard(at))
	if at.After(heard) { // by a clock that is ahead
		at = heard
	}
	s.remember(Purge{At: at, Key: key}) // what Redis has from a moment later is newer, by the same clock
	s.purgeKey(key, &Purge{At: heard, Key: key})
}

// gone removes what was asked for before another instance has purged a URI.
func (s *Store) gone(key string, at time.Time) {
	p := s.remember(Purge{At: at, Key: key})
	s.purgeKey(key, &p)
}

// goneBefore removes the variants that were requested until another instance purged a URI, and returns the time until which it does. A
// value in Redis tells of the purge. The value was created after it and stays, although clocks differ. A fill that began before the
// purge ends within purged.Life.
func (s *Store) goneBefore(key string, marked, created, now time.Time) time.Time {
	p := Purge{At: Heard(marked), Key: key}
	if last := created.Add(-time.Millisecond); created.After(marked) && p.At.After(last) {
		p.At = last
	}
	if now.Sub(p.At) <= purged.Life {
		p = s.remember(p)
	}
	s.purgeKey(key, &p)
	return p.At
}

// requestedAfter returns the variants that were requested after a time.
func (v Variants) requestedAfter(t time.Time) Variants {
	return slices.DeleteFunc(slices.Clone(v), func(o *Object) bool { return !o.Requested.After(t) })
}
