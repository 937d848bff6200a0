package web

import (
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
)

const (
	// locks guard what is read, changed and written again, by key.
	locks = 64
	// memoryOfKeys is how long the purge of a URI is remembered for fills that began before it: longer than one may take.
	memoryOfKeys = 10 * time.Minute
	// maxPurges bounds how many are; past it, no fill that began before the one that was forgotten stores anything.
	maxPurges = 4096
)

// Store keeps objects in memory, bounded in bytes: those that are asked for most (W-TinyLFU). It is safe for concurrent use.
type Store struct {
	StoreConfig
	table *otter.Cache[string, Variants]
	seed  maphash.Seed
	locks [locks]sync.Mutex

	doubt atomic.Int64 // how many outages there were in which replacements may have been missed

	mu sync.Mutex
	// keys are the purges of one URI, wide those of many, the latest last.
	keys, wide purges
}

// purges are those that are remembered, for so long, at most maxPurges.
type purges struct {
	all []Purge
	// forgotten is when the latest was ordered that is no longer remembered though it should be.
	forgotten time.Time
}

// Purge says which objects are gone that were asked for before At.
type Purge struct {
	At time.Time
	// Key is one URI, Prefix all that begin with it, Tag those of them that have it; all empty: everything.
	Key, Prefix, Tag string
	// Soft makes them stale instead: they are validated, and may be served where that fails.
	Soft bool
}

// Covers reports whether the purge is about an object of a key.
func (p *Purge) Covers(key string, o *Object) bool {
	switch {
	case o.Requested.After(p.At):
		return false
	case p.Key != "":
		return key == p.Key
	case p.Tag != "" && !slices.Contains(o.Tags, p.Tag):
		return false
	}
	return strings.HasPrefix(key, p.Prefix)
}

// StoreConfig says what a store keeps.
type StoreConfig struct {
	// Memory is how many bytes.
	Memory int64
	// Variants is how many of a URI at most.
	Variants int
	// Far is what instances share; nil: nothing. Their keys begin with Name.
	Far  Far
	Name string
}

// NewStore makes a store.
func NewStore(c StoreConfig) (*Store, error) {
	table, err := otter.New(&otter.Options[string, Variants]{
		MaximumWeight: uint64(c.Memory),
		Weigher: func(key string, v Variants) uint32 {
			return uint32(min(int64(len(key)+v.Weight()), math.MaxUint32))
		},
	})
	if err != nil {
		return nil, fmt.Errorf("store of %d bytes: %w", c.Memory, err)
	}
	return &Store{StoreConfig: c, table: table, seed: maphash.MakeSeed()}, nil
}

// Get returns what is stored of a URI; nil: nothing.
func (s *Store) Get(key string) Variants {
	v, _ := s.table.GetIfPresent(key)
	return v
}

// Put stores an object, here and for the other instances, unless it was purged since it was asked for, or there is a variant
// of the same selection that was asked for later. It reports whether it did.
func (s *Store) Put(key string, o *Object) bool {
	if !s.put(key, o) {
		return false
	}
	s.share(key, o)
	return true
}

// put stores an object here. It gets the generation of its URI.
func (s *Store) put(key string, o *Object) bool {
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
	switch {
	case o.generation != 0:
	case len(v) > 0:
		o.generation = v[0].generation
	default:
		o.generation = newGeneration()
	}
	if at, soft := s.lastPurge(key, o, true); soft {
		o = o.staleFrom(at)
	}
	s.table.Set(key, v.With(o, s.Variants))
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
		if !p.Soft {
			s.shareGone(p.Key, p.At)
		}
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
	next := o.clone()
	next.Lifetime = min(o.Lifetime, at.Sub(o.Born))
	return next
}

// remember keeps a purge for what is under way, and for what instances still share.
func (s *Store) remember(p Purge) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.Key != "" {
		s.keys.add(p, memoryOfKeys)
	} else {
		s.wide.add(p, farTime)
	}
}

func (m *purges) add(p Purge, life time.Duration) {
	old := 0
	for old < len(m.all) && (len(m.all)-old >= maxPurges || p.At.Sub(m.all[old].At) > life) {
		if p.At.Sub(m.all[old].At) <= life {
			m.forgotten = m.all[old].At
		}
		old++
	}
	m.all = append(slices.Delete(m.all, 0, old), p)
}

// cover reports whether an object was purged since it was asked for, hard or soft, and when last.
func (m *purges) cover(key string, o *Object, soft bool) (at time.Time, covered bool) {
	if !soft && !o.Requested.After(m.forgotten) {
		return m.forgotten, true
	}
	for _, p := range slices.Backward(m.all) {
		if p.Soft == soft && p.Covers(key, o) {
			return p.At, true
		}
	}
	return time.Time{}, false
}

// purged reports whether an object was purged since it was asked for, hard.
func (s *Store) purged(key string, o *Object) bool {
	_, covered := s.lastPurge(key, o, false)
	return covered
}

func (s *Store) lastPurge(key string, o *Object, soft bool) (at time.Time, covered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, covered = s.keys.cover(key, o, soft); covered {
		return at, true
	}
	return s.wide.cover(key, o, soft)
}

func (s *Store) lock(key string) (unlock func()) {
	mu := &s.locks[maphash.String(s.seed, key)%locks]
	mu.Lock()
	return mu.Unlock
}
