package web

import (
	"slices"
	"strings"
	"time"
)

const (
	// memoryOfKeys is how long the hard purge of a URI is remembered for fills that began before it: longer than one may take.
	memoryOfKeys = 10 * time.Minute
	// maxURIPurges bounds how many of them are remembered; past it, no fill that began before the one that was forgotten
	// stores anything. One client cannot make as many in that time, by the default of limits.rate: 30,200.
	maxURIPurges = 1 << 16
	// maxPurges bounds likewise how many purges of more than one URI, and soft ones, are.
	maxPurges = 4096
)

// uriPurges are the last hard purges of URIs, by hashes of their keys: unsafe requests make many of them, with keys as long as
// callers like.
type uriPurges struct {
	at   map[uint64]time.Time
	last []uriPurge // one of each key, in the order in which they came
	// forgotten is when the latest was ordered that is no longer remembered though it should be.
	forgotten time.Time
}

type uriPurge struct {
	key uint64
	at  time.Time
}

func (m *uriPurges) add(key uint64, at time.Time) {
	if m.at == nil {
		m.at = map[uint64]time.Time{}
	}
	before, known := m.at[key]
	if at.After(before) {
		m.at[key] = at
	}
	if known {
		return
	}
	m.last = append(m.last, uriPurge{key, at})
	for len(m.last) > maxURIPurges || at.Sub(m.last[0].at) > memoryOfKeys {
		m.forgetFirst(at)
	}
}

// forgetFirst forgets the purge that came first. If its URI was purged again since, that one is the last.
func (m *uriPurges) forgetFirst(now time.Time) {
	first := m.last[0]
	m.last = m.last[1:]
	if at := m.at[first.key]; at.After(first.at) {
		m.last = append(m.last, uriPurge{first.key, at})
		return
	}
	delete(m.at, first.key)
	if now.Sub(first.at) <= memoryOfKeys && first.at.After(m.forgotten) {
		m.forgotten = first.at
	}
}

// cover reports whether an object is known to have been purged since it was asked for.
func (m *uriPurges) cover(key uint64, o *Object) bool {
	at, ok := m.at[key]
	return ok && !o.Requested.After(at)
}

// mayCover is cover for a fill, which may have begun before a purge that is forgotten. Of what instances share, Redis has the purge.
func (m *uriPurges) mayCover(key uint64, o *Object) bool {
	return !o.Requested.After(m.forgotten) || m.cover(key, o)
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.Key != "" && !p.Soft {
		s.uris.add(s.hash(p.Key), p.At)
	} else {
		s.wide.add(p)
	}
	return p
}

// knowsPurge reports whether a purge of a URI at a time is known here, as far as clocks tell, such as one of this instance's own.
func (s *Store) knowsPurge(key string, at time.Time) bool {
	return !s.lastPurge(key).Before(at.Add(-ClockSkew))
}

// lastPurge returns when a URI was last purged, as far as that is remembered; zero means never.
func (s *Store) lastPurge(key string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.uris.at[s.hash(key)]
}

// purgedSince reports whether an object was purged since it was asked for: hard, or when last to be stale (zero: not).
func (s *Store) purgedSince(key string, o *Object) (gone bool, stale time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uris.cover(s.hash(key), o) || s.outOfGroups(key, o) {
		return true, stale
	}
	return s.wide.cover(key, o)
}

// IsPurged reports whether a response was hard purged since it was requested.
func (s *Store) IsPurged(key string, o *Object) bool {
	gone, _ := s.purgedSince(key, o)
	return gone
}

// mayBePurged is purgedSince for a fill, which comes too late where more URIs were purged since it began than are remembered.
func (s *Store) mayBePurged(key string, o *Object) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.uris.mayCover(s.hash(key), o)
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
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.uris.mayCover(s.hash(key), o) || slices.ContainsFunc(s.wide.all, func(p Purge) bool {
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
