package web

import (
	"slices"
	"strings"
	"time"

	"sundry/cache/purged"
)

// maxPurges is the number of purges that are remembered of more than one URI, or soft. Beyond it, what was requested before the one that was
// forgotten counts as purged.
const maxPurges = 4096

// isCovered reports whether an object is known to have been hard purged by the key of its URI since it was asked for.
func (s *Store) isCovered(key string, o *Object) bool {
	at := s.uris.Last(s.hash(key), o.Requested)
	return !at.IsZero() && !o.Requested.After(at)
}

// mayBeCovered is isCovered for a fill, which may have begun before a purge that is forgotten. Of what instances share, Redis has the purge.
func (s *Store) mayBeCovered(key string, o *Object) bool {
	return !o.Requested.After(s.uris.Forgotten()) || s.isCovered(key, o)
}

// widePurges are those of many URIs, and the soft ones, as long as instances share what they are about.
type widePurges struct {
	all       []Purge // the latest last
	forgotten time.Time
}

func (m *widePurges) add(p Purge) {
	m.all = slices.DeleteFunc(m.all, func(before Purge) bool { return before.sameBut(p) && !before.At.After(p.At) })
	old := 0
	for old < len(m.all) && (len(m.all)-old >= maxPurges || p.At.Sub(m.all[old].At) > farTime) {
		if p.At.Sub(m.all[old].At) <= farTime {
			m.forgotten = m.all[old].At
		}
		old++
	}
	m.all = append(m.all[old:], p)
}

// sameBut reports whether two purges differ in no more than when they were ordered.
func (p Purge) sameBut(other Purge) bool {
	p.At = other.At
	return p == other
}

// cover reports whether an object was purged since it was asked for, hard; and when last to be stale, zero: not.
func (m *widePurges) cover(key string, o *Object) (gone bool, stale time.Time) {
	if !o.Requested.After(m.forgotten) {
		return true, stale
	}
	for i := range m.all {
		switch p := &m.all[i]; {
		case !p.Covers(key, o):
		case !p.Soft:
			return true, stale
		case p.At.After(stale):
			stale = p.At
		}
	}
	return false, stale
}

// remember keeps a purge for what is under way, and for what instances still share, and returns it as it is dated here.
func (s *Store) remember(p Purge) Purge {
	p.At = monotonic(p.At)
	if p.Key != "" && !p.Soft {
		s.uris.Add(s.hash(p.Key), p.At, p.At, purged.Life)
		return p
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wide.add(p)
	return p
}

// knowsPurge reports whether a purge of a URI at a time is known here, as far as clocks tell, such as one of this instance's own.
func (s *Store) knowsPurge(key string, at time.Time) bool {
	return !s.lastPurge(key).Before(at.Add(-ClockSkew))
}

// lastPurge returns when a URI was last purged, as far as that is remembered; zero means never.
func (s *Store) lastPurge(key string) time.Time {
	return s.uris.Last(s.hash(key), time.Unix(0, 0)) // also one that has no effect any more
}

// purgedSince reports whether an object was purged since it was asked for: hard, or when last to be stale (zero: not).
func (s *Store) purgedSince(key string, o *Object) (gone bool, stale time.Time) {
	if s.isCovered(key, o) || s.outOfGroups(key, o) {
		return true, stale
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wide.cover(key, o)
}

// IsPurged reports whether a response was hard purged since it was requested.
func (s *Store) IsPurged(key string, o *Object) bool {
	gone, _ := s.purgedSince(key, o)
	return gone
}

// PurgedSince reports whether a purge was ordered since then that is about what is stored of a URI, or may be. The tags of a response that
// is under way are not known yet; its groups are taken to be those of the stored responses.
func (s *Store) PurgedSince(key string, since time.Time) bool {
	o := &Object{Response: Response{Requested: since}}
	before, _ := s.table.GetIfPresent(key) // including purged ones
	changes := s.groups.changes.Load()
	for _, old := range append(Variants{o}, before...) {
		if old.inGroups.Load() == changes && !old.Requested.After(since) {
			continue // the latest invalidation is known to be older
		}
		if !since.After(s.GroupsPurged(key, old)) {
			return true
		}
	}
	if s.mayBeCovered(key, o) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.wide.all, func(p Purge) bool {
		p.Tag, p.Group = "", ""
		return p.Covers(key, o)
	})
}

// Walk calls each for every object here that a purge would be about, until it returns false, in no order.
func (s *Store) Walk(p *Purge, each func(uri string, o *Object) bool) {
	for key, variants := range s.table.All() {
		if p.Key != "" && key != p.Key || !strings.HasPrefix(key, p.Prefix) {
			continue
		}
		for _, o := range variants {
			if p.Covers(key, o) && !s.outOfGroups(key, o) && !each(key, o) {
				return
			}
		}
	}
}
