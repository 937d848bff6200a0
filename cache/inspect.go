package cache

import (
	"context"
	"slices"
	"strings"
	"time"

	"sundry/cache/entry"
	"sundry/cache/near"
	"sundry/cache/policy"
)

// EntryInfo describes an entry of the near tier.
type EntryInfo struct {
	Key      string
	Class    string // where its bodies are
	State    policy.State
	Left     time.Duration // of freshness; negative when stale
	Age      time.Duration
	Meta     entry.Meta
	Message  string // of a negative answer
	Bytes    int    // in this tier, parts included
	Bodies   []int  // of each form
	Complete bool   // its parts have not been evicted
}

// SpaceOf finds the space that a key belongs to.
func SpaceOf(spaces []*Space, key string) (*Space, bool) {
	i := slices.IndexFunc(spaces, func(s *Space) bool { return strings.HasPrefix(key, s.Name()+":") })
	if i < 0 {
		return nil, false
	}
	return spaces[i], true
}

// A walk over a large tier takes some hundred ms. It rests for walkPause after each
// walkStretch entries, so that on one core hits need not wait for it to end.
const (
	walkStretch = 256
	walkPause   = 100 * time.Microsecond
)

// Walk calls visit with each of the space's entries until it returns false.
// Entries that are stored or evicted meanwhile may be missed. It reads the whole
// near tier: it is for operators, not for requests.
func (s *Space) Walk(visit func(EntryInfo) bool) {
	now, prefix := time.Now(), s.name+":"
	it := s.cache.near.Queue(s.policy.Class).Iterator()
	for n := 1; it.SetNext(); n++ {
		if n%walkStretch == 0 {
			time.Sleep(walkPause)
		}
		item, err := it.Value()
		if err != nil {
			continue
		}
		key := item.Key()
		if !strings.HasPrefix(key, prefix) || strings.IndexByte(key, 0) >= 0 {
			continue
		}
		if e, err := entry.Parse(item.Value()); err == nil && !visit(s.info(key, &e, now)) {
			return
		}
	}
}

// Look describes one entry, with a representation of each of its forms: of a
// pool, one of many.
func (s *Space) Look(key string) (EntryInfo, []entry.Rep, bool) {
	e, ok := s.cache.near.Last(s.policy.Class, key)
	if !ok {
		return EntryInfo{}, nil, false
	}
	reps := make([]entry.Rep, e.Forms)
	for i := range reps {
		reps[i], _ = s.cache.near.Pick(s.policy.Class, key, &e, i) // a missing part shows as none
	}
	return s.info(key, &e, time.Now()), reps, true
}

// Find is Look without the bodies, and looks into Redis as well where this instance has nothing fresh. It changes nothing.
func (s *Space) Find(ctx context.Context, key string) (info EntryInfo, tier Tier, found bool) {
	now := time.Now()
	if e, ok := s.cache.near.Last(s.policy.Class, key); ok {
		info, found = s.info(key, &e, now), true
	}
	if !s.usesFar() || found && (info.State == policy.Fresh || info.State == policy.Eager) {
		return info, Near, found
	}
	look := s.cache.far.Look(ctx, key, 0)
	e, ok := s.unpack(&look)
	if !ok || found && !policy.Prefers(&e.Meta, &info.Meta, now) {
		return info, Near, found
	}
	return s.info(key, e, now), Far, true
}

// Paused is for how long the last failed fill of a key keeps others from being tried, and its error; 0: it does not. hasCopy
// says that there is an entry that may be served.
func (s *Space) Paused(key string, hasCopy bool) (wait time.Duration, err error) {
	return s.cache.failures.paused(key, hasCopy, time.Now())
}

func (s *Space) info(key string, e *entry.Entry, now time.Time) EntryInfo {
	state, left := s.state(key, &e.Meta, now)
	info := EntryInfo{
		Key: key, Class: near.ClassOfParts(s.policy.Class, e).String(), State: state, Left: left, Age: max(0, now.Sub(e.Meta.Created)),
		Meta: e.Meta, Message: e.Message, Bytes: len(e.Raw), Complete: s.complete(key, e),
	}
	for i := range e.Forms {
		n, _ := e.Form(i)
		info.Bodies = append(info.Bodies, n)
	}
	if e.Split() {
		info.Bytes += s.cache.near.PartBytes(s.policy.Class, key, e)
	}
	return info
}

// EditionLate is Policy.EditionLate for the entry in the near tier; 0 when there is
// none.
func (s *Space) EditionLate(key string, now time.Time) time.Duration {
	if s.policy.Until == nil {
		return 0
	}
	e, ok := s.cache.near.Head(s.policy.Class, key)
	if !ok {
		return 0
	}
	return s.policy.EditionLate(&e.Meta, now)
}
