package web

import (
	"crypto/rand"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"sundry/cache/clients"
	"sundry/cache/confirm"
	"sundry/cache/purged"
	"sundry/metrics"
	"sundry/metrics/panics"
)

// locks guard what is read, changed and written again, by key.
const locks = 64

// Store keeps objects in memory, bounded in bytes: those that are asked for most (W-TinyLFU). It is safe for concurrent use.
type Store struct {
	StoreConfig
	table *otter.Cache[string, Variants]
	seed  maphash.Seed
	locks [locks]sync.Mutex
	// digestKey is the key of the digests that stand for values of request fields.
	digestKey atomic.Pointer[[KeyBytes]byte]

	outages    atomic.Int64 // number of the outages in which marks may have been missed; the start is the first
	missedAt   atomic.Int64 // end of the last one, in Unix nanoseconds
	confirmed  confirm.Table
	background func(func()) // runs a confirmation

	uris purged.Keys // hard purges of URIs: unsafe requests make many of them
	mu   sync.Mutex  // guards wide
	wide widePurges

	groups groupPurges

	broken brokenObjects
}

// Purge says which objects are gone that were asked for before At.
type Purge struct {
	At time.Time
	// Key is one URI. Prefix is the beginning of URIs, of which Tag and Group select the responses with a tag or in a cache group. If all are
	// empty, everything is purged.
	Key, Prefix, Tag, Group string
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
	case p.Tag != "" && !slices.Contains(o.Tags, p.Tag), p.Group != "" && !slices.Contains(o.Groups, p.Group):
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
	// Spools limits the memory of bodies while they arrive (see NewSpoolMemory); nil means no limit.
	Spools *clients.Limit
	// Private reports whether a URI holds credentials: what is stored of it is not written to a file; nil means that none does.
	Private func(key string) bool
	// Panics catches panics in the background; nil makes them end the process.
	Panics *panics.Catcher
	// Registerer takes the metrics; nil for none.
	Registerer prometheus.Registerer
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
	gauge := func(name, help string, value func() uint64) {
		promauto.With(c.Registerer).NewGaugeFunc(prometheus.GaugeOpts{Namespace: metrics.Namespace, Subsystem: "apis", Name: name, Help: help}, func() float64 { return float64(value()) })
	}
	gauge("memory_bytes", "Bytes in memory that are kept of APIs.", table.WeightedSize)
	gauge("memory_limit_bytes", "Bytes that may be kept of APIs in memory before what is least asked for is evicted.", table.GetMaximum)
	s := &Store{StoreConfig: c, table: table, seed: maphash.MakeSeed(), broken: newBrokenObjects(c.Registerer)}
	var key [KeyBytes]byte
	_, _ = rand.Read(key[:]) // never fails
	s.DigestWith(key)
	s.outages.Store(1)
	s.background = func(confirm func()) { c.Panics.Go(panics.Fill, confirm) }
	return s, nil
}

// DigestWith replaces the key of digests, which is random at first. Instances that share responses must have the same. No request selects
// a response with a digest of an earlier key.
func (s *Store) DigestWith(key [KeyBytes]byte) { s.digestKey.Store(&key) }

// Get returns what is stored of a URI; nil: nothing.
func (s *Store) Get(key string) Variants {
	v, _ := s.table.GetIfPresent(key)
	gone := func(o *Object) bool { return s.outOfGroups(key, o) }
	if !slices.ContainsFunc(v, gone) {
		return v
	}
	return slices.DeleteFunc(slices.Clone(v), gone)
}

// Put stores an object without the fields of one caller, here and for the other instances, unless it was purged since it was
// asked for, or there is a variant of the same selection that was asked for later. It reports whether it did.
func (s *Store) Put(key string, o *Object) bool {
	o = o.ForAll()
	s.missedNothing(key, o)
	if s.mayBeCovered(key, o) || !s.put(key, o, 0) {
		return false
	}
	s.confirmed.Looked(o.hash, true, o.Requested)
	s.share(key, o)
	return true
}

// put stores an object here, also in the place of one that was asked for later by no more than that.
func (s *Store) put(key string, o *Object, later time.Duration) bool {
	o.hash = s.hashOf(key, o)
	defer s.lock(key)()
	gone, stale := s.purgedSince(key, o)
	if gone {
		return false
	}
	v := s.Get(key)
	for _, old := range v {
		isWhole := old.Part == nil && o.Part != nil // in the place of which a part would cost others a request
		if (isWhole || old.Requested.After(o.Requested.Add(later)) && old.keepsOut(o)) && old.covers(o) {
			return false
		}
		if o.replaces(old) {
			o.client = old.client // or who requests it again could take it away
		}
	}
	if !stale.IsZero() {
		o = o.staleFrom(stale)
	}
	s.table.Set(key, s.with(v, o))
	return true
}

// Drop removes one object, if it is still there, here and for the other instances: an answer that was asked for then says that it is
// outdated.
func (s *Store) Drop(key string, o *Object, at time.Time) {
	if !s.drop(key, o) {
		return
	}
	s.shareGone(s.farKey(key), at)
	if o.selecting != "" {
		s.shareGone(s.variantKey(key, o.selecting), at)
	}
}

func (s *Store) drop(key string, o *Object) bool {
	defer s.lock(key)()
	v := s.Get(key)
	i := slices.Index(v, o)
	if i >= 0 {
		s.table.Set(key, slices.Delete(slices.Clone(v), i, i+1))
	}
	return i >= 0
}

// Purge carries out a purge, and returns how many objects it was about. What was asked for before it and comes later is
// not stored.
func (s *Store) Purge(p Purge) (n int) {
	p = s.remember(p)
	if p.Key != "" {
		if !p.Soft {
			s.shareGone(s.farKey(p.Key), p.At)
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
	next.outage.Store(o.outage.Load())
	return next
}

// variantsShare is the part of the memory that the variants of one URI get at most: who makes up new ones of a large response
// would else displace all that others ask for.
const variantsShare = 8

func (s *Store) with(v Variants, o *Object) Variants {
	return v.With(o, s.Variants, s.Memory/variantsShare)
}

func (s *Store) hash(key string) uint64 { return maphash.String(s.seed, key) }

// hashOf returns the hash of one variant of a URI.
func (s *Store) hashOf(key string, o *Object) uint64 {
	if o.selecting == "" {
		return s.hash(key)
	}
	return s.hash(key + " " + o.selecting)
}

func (s *Store) lock(key string) (unlock func()) {
	mu := &s.locks[s.hash(key)%locks]
	mu.Lock()
	return mu.Unlock
}
