package web

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sundry/cache/entry"
)

// A stored response may be older than what instances share: another one has replaced it, or the URI was purged. Instances notify each other
// of what they write, and what was missed is looked up.

// knowledge is what was known of replacements before a look.
type knowledge struct {
	outage, replaced int64
	now              *atomic.Int64 // replaced may be more now
}

func (s *Store) knowledge(key string) knowledge {
	now := &s.replaced[s.hash(key)%locks]
	k := knowledge{s.doubt.Load(), now.Load(), now}
	if len(s.farKey(key)) > entry.MostAnnounced {
		k.replaced = -1 // of such a key nobody tells
	}
	return k
}

// note notes that an object is the newest as far as the look tells. What was told since may be of a newer one.
func (k knowledge) note(o *Object) {
	o.told.Store(0)
	o.verified.Store(k.outage)
	if k.now.Load() != k.replaced {
		o.told.Store(doubted)
	}
}

// gone removes what was asked for before another instance has purged a URI.
func (s *Store) gone(key string, at time.Time) {
	p := s.remember(Purge{At: at, Key: key})
	s.purgeKey(key, &p)
}

// goneBefore removes the variants that were requested until another instance purged a URI, and returns the time until which it does. A
// value in Redis tells of the purge. The value was created after it and stays, although clocks differ. A fill that began before the
// purge ends within memoryOfKeys.
func (s *Store) goneBefore(key string, purged, created, now time.Time) time.Time {
	p := Purge{At: Heard(purged), Key: key}
	if last := created.Add(-time.Millisecond); created.After(purged) && p.At.After(last) {
		p.At = last
	}
	if now.Sub(p.At) <= memoryOfKeys {
		p = s.remember(p)
	}
	s.purgeKey(key, &p)
	return p.At
}

// dropSuperseded removes the variants that something has replaced in Redis which is no longer there, such as the mark of a purge. It
// reports whether there were any.
func (s *Store) dropSuperseded(key string, v Variants) bool {
	var last time.Time
	for _, o := range v {
		if o.told.Load() == superseded && o.Requested.After(last) {
			last = o.Requested
		}
	}
	if !last.IsZero() {
		s.gone(key, last)
	}
	return !last.IsZero()
}

// What an instance has told of an object.
const (
	doubted    = 1
	superseded = 2
)

// Replaced is to be called for each value that an instance has written in the place of another one, this one's too: what is
// here of that URI is looked up again once.
func (s *Store) Replaced(farKey string, created time.Time) {
	key, ours := strings.CutPrefix(farKey, s.Name+":")
	if !ours || time.Until(created) > entry.Skew || s.heardOfGroup(key, created) { // a stranger may have sent it
		return
	}
	s.replaced[s.hash(key)%locks].Add(1)
	for _, o := range s.Get(key) {
		switch {
		case o.Requested.Before(created.Add(-ClockSkew)):
			o.told.Store(superseded)
		case o.Requested.Before(created.Add(ClockSkew)): // it may be the one that was written
			o.told.Store(doubted)
		}
	}
}

// Marked is to be called for each purge of a URI by an instance, this one's too. What was requested before it is removed at once: Redis may
// be unavailable at the next request, or have lost the purge.
func (s *Store) Marked(farKey string, at time.Time) {
	key, ours := strings.CutPrefix(farKey, s.Name+":")
	if !ours || strings.Contains(key, " ") || s.knowsPurge(key, at) { // URIs have no spaces; groups and keys of variants do
		return
	}
	heard := monotonic(Heard(at))
	if at.After(heard) { // by a clock that is ahead
		at = heard
	}
	s.remember(Purge{At: at, Key: key}) // what Redis has from a moment later is newer, by the same clock
	s.purgeKey(key, &Purge{At: heard, Key: key})
}

// Missed is to be called when it may not have been told of some that were replaced until now.
func (s *Store) Missed() {
	s.missedAt.Store(time.Now().UnixNano())
	s.doubt.Add(1)
}

// missedNothing notes that no outage was since an object was requested. It has yet to be looked up once: another instance may have
// requested it at the same time.
func (s *Store) missedNothing(o *Object) {
	if outage := s.doubt.Load(); o.Requested.UnixNano() > s.missedAt.Load() {
		o.told.Store(doubted)
		o.verified.Store(outage)
	}
}

// Lost is to be called for a value created then that Redis may lack, or with "" if it may lack any.
func (s *Store) Lost(farKey string, created time.Time) {
	if farKey == "" {
		s.Missed()
		return
	}
	key, ours := strings.CutPrefix(farKey, s.Name+":")
	if !ours {
		return
	}
	for _, o := range s.Get(key) {
		if o.Requested.Sub(created).Abs() < ClockSkew {
			o.told.Store(doubted)
		}
	}
}

// doubtful reports whether the object may have been replaced, as far as is known up to this outage.
func (o *Object) doubtful(outage int64) bool {
	return o.verified.Load() != outage || o.told.Load() != 0
}

// requestedAfter returns the variants that were requested after a time.
func (v Variants) requestedAfter(t time.Time) Variants {
	return slices.DeleteFunc(slices.Clone(v), func(o *Object) bool { return !o.Requested.After(t) })
}
