package web

import (
	"errors"
	"slices"
	"time"

	"sundry/cache/snapshot"
)

// mostKept is the size in bytes of the largest body that a declaration permits.
const mostKept = 256 << 20

// Kept is what a snapshot keeps of the store: not what Private reports. It must be written when no requests come any more that may make
// some of it unusable. rules returns those of the API of a key; nil means that there is no such API any more. knownSince returns the time
// from which on all is known, when the file is read, that was purged while nobody ran; zero means all.
func (s *Store) Kept(rules func(key string) *Rules, knownSince func() time.Time) snapshot.Cache {
	return snapshot.Cache{
		Version: farVersion, Largest: mostHead + min(s.Memory, mostKept), All: s.kept,
		Admit: func(key string, value []byte) snapshot.Outcome {
			return s.admit(key, value, rules(key), knownSince(), time.Now())
		},
	}
}

// kept yields all objects, of each URI the newest last, which is then the first again.
func (s *Store) kept(yield func(string, []byte) bool) {
	for key, variants := range s.table.All() {
		if s.Private != nil && s.Private(key) {
			continue
		}
		for _, o := range slices.Backward(variants) {
			if s.outOfGroups(key, o) {
				continue
			}
			if value, err := encode(o); err == nil && !yield(key, value) {
				return
			}
		}
	}
}

// admit stores an object that was requested after since, or says why not. One that came after now, where the clock was set back, would
// be fresh for too long, and out of the reach of purges.
func (s *Store) admit(key string, value []byte, under *Rules, since, now time.Time) snapshot.Outcome {
	if under == nil {
		return snapshot.Unknown
	}
	o, err := decode(value, time.Time{}, under, now)
	switch {
	case errors.Is(err, errOrigin):
		return snapshot.Unknown
	case err != nil, o.Received.After(now):
		s.broken.file.Inc()
		return snapshot.Broken
	case !o.Requested.After(since), s.IsPurged(key, o):
		return snapshot.Gone
	case !s.put(key, o, 0):
		return snapshot.Newer
	}
	return snapshot.Read
}
