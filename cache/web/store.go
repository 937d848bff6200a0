package web

import (
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"
)

const (
	// locks guard what is read, changed and written again, by key.
	locks = 64
	// memoryOfPurges is how long a purge is remembered for fills that began before it: longer than one may take.
	memoryOfPurges = 10 * time.Minute
	// maxPurges bounds how many are; past it, no fill that began before the one that was forgotten stores anything.
	maxPurges = 4096
)

// Store keeps objects in memory, bounded in bytes: those that are asked for most (W-TinyLFU). It is safe for concurrent use.
type Store struct {
	table    *otter.Cache[string, Variants]
	variants int
	seed     maphash.Seed
	keys     [locks]sync.Mutex

	mu     sync.Mutex
	purges []Purge // the latest last
	// forgotten is when the latest purge was ordered that is no longer remembered.
	forgotten time.Time
}

// Purge says which objects are gone that were asked for before At.
type Purge struct {
	At time.Time
	// Key is one URI, Prefix all that begin with it, Tag all that have it; all empty: everything.
	Key, Prefix, Tag string
	// Soft makes them stale instead: they are validated, and may be served where that fails.
	Soft bool
}

// Covers reports whether the purge is about an object of a key.
func (p *Purge) Covers(key string, o *Object) bool {
	switch {
	case o.Requested.After(p.At):
		return false
	case p.Tag != "":
		return slices.Contains(o.Tags, p.Tag)
	case p.Key != "":
		return key == p.Key
	}
	return strings.HasPrefix(key, p.Prefix)
}

// NewStore makes a store of that many bytes, with at most so many variants of a URI.
func NewStore(memory int64, variants int) (*Store, error) {
	table, err := otter.New(&otter.Options[string, Variants]{
		MaximumWeight: uint64(memory),
		Weigher: func(key string, v Variants) uint32 {
			return uint32(min(int64(len(key)+v.Weight()), math.MaxUint32))
		},
	})
	if err != nil {
		return nil, fmt.Errorf("store of %d bytes: %w", memory, err)
	}
	return &Store{table: table, variants: variants, seed: maphash.MakeSeed()}, nil
}

// Get returns what is stored of a URI; nil: nothing.
func (s *Store) Get(key string) Variants {
	v, _ := s.table.GetIfPresent(key)
	return v
}

// Put stores an object, unless it was purged since it was asked for, or there is a variant of the same selection that was
// asked for later. It reports whether it did.
func (s *Store) Put(key string, o *Object) bool {
	defer s.lock(key)()
	if s.purged(key, o) {
		return false
	}
	v := s.Get(key)
	for _, old := range v {
		if old.Requested.After(o.Requested) && old.Selects(o.Selected) {
			return false
		}
	}
	s.table.Set(key, v.With(o, s.variants))
	return true
}

// Drop removes one object, if it is still there.
func (s *Store) Drop(key string, o *Object) {
	defer s.lock(key)()
	v := s.Get(key)
	if i := slices.Index(v, o); i >= 0 {
		s.table.Set(key, slices.Delete(slices.Clone(v), i, i+1))
	}
}

// Purge carries out a purge, and returns how many objects it was about. What was asked for before it and comes later is
// not stored.
func (s *Store) Purge(p Purge) (n int) {
	s.remember(p)
	if p.Key != "" {
		return s.purgeKey(p.Key, &p)
	}
	for key := range s.table.Keys() {
		n += s.purgeKey(key, &p)
	}
	return n
}

func (s *Store) purgeKey(key string, p *Purge) (n int) {
	defer s.lock(key)()
	v := s.Get(key)
	next := make(Variants, 0, len(v))
	for _, o := range v {
		switch {
		case !p.Covers(key, o):
			next = append(next, o)
			continue
		case p.Soft:
			next = append(next, o.staleFrom(p.At))
		}
		n++
	}
	switch {
	case n > 0 && len(next) == 0:
		s.table.Invalidate(key)
	case n > 0:
		s.table.Set(key, next)
	}
	return n
}

// staleFrom is the object as one that is no longer fresh from then on.
func (o *Object) staleFrom(at time.Time) *Object {
	next := *o
	next.Lifetime = min(o.Lifetime, at.Sub(o.Born))
	return &next
}

// remember keeps a purge for what is under way.
func (s *Store) remember(p Purge) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := 0
	for old < len(s.purges) && (len(s.purges)-old >= maxPurges || p.At.Sub(s.purges[old].At) > memoryOfPurges) {
		if p.At.Sub(s.purges[old].At) <= memoryOfPurges {
			s.forgotten = s.purges[old].At
		}
		old++
	}
	s.purges = append(slices.Delete(s.purges, 0, old), p)
}

// purged reports whether an object that comes now was purged since it was asked for.
func (s *Store) purged(key string, o *Object) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !o.Requested.After(s.forgotten) {
		return true
	}
	for _, p := range slices.Backward(s.purges) {
		if p.At.Before(o.Requested) {
			return false
		}
		if p.Covers(key, o) {
			return true
		}
	}
	return false
}

func (s *Store) lock(key string) (unlock func()) {
	mu := &s.keys[maphash.String(s.seed, key)%locks]
	mu.Lock()
	return mu.Unlock
}
