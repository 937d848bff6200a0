package cache

import (
	"math/rand/v2"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Observer is told what happens in the spaces of a cache. Its methods are called by many
// goroutines on the way of requests, so they return soon. The cache does not need it to
// serve.
type Observer interface {
	// Filled is told of each answer that was loaded and stored, but for negative ones
	// and those of a last resort.
	Filled(f Filled)
	// Requested is told of a request that stands for so many of its space, and returns
	// how many the next one is to stand for: a power of two, 1 for each.
	Requested(space string, key uint64, weight uint32, now time.Time) (next uint32)
	// Waited is told of each request that had to wait for a load, whatever came of it.
	Waited(space string)
	// Called is told of each load that begins, whatever comes of it.
	Called(space string)
}

// Filled is what a fill has found out.
type Filled struct {
	// Space is the name of the space.
	Space string
	// Key is a hash of the key, the same in every process.
	Key uint64
	// Source of the answer, and when its load began.
	Source string
	At     time.Time
	// Before is when the load of the answer began that it replaced, and BeforeSource
	// who that was from; zero: there was none to compare with, so nothing is known of a
	// change.
	Before       time.Time
	BeforeSource string
	// Changed means that the content is another one than before.
	Changed bool
}

// observeFill tells the observer of an entry that was stored in the place of old.
func (s *Space) observeFill(key string, e, old *entry) {
	if s.cache.observer == nil || e.meta.replaceable() {
		return
	}
	f := Filled{Space: s.name, Key: xxhash.Sum64String(key), Source: e.meta.Source, At: e.meta.Created}
	if old.raw != nil && !old.meta.replaceable() && old.meta.Created.Before(e.meta.Created) {
		f.Before, f.BeforeSource, f.Changed = old.meta.Created, old.meta.Source, old.digest != e.digest
	}
	s.cache.observer.Filled(f)
}

// observeCall tells the observer that a load begins.
func (s *Space) observeCall() {
	if s.cache.observer != nil {
		s.cache.observer.Called(s.name)
	}
}

// observeWait tells the observer of a request that was not ready, if it has waited for a
// load: what Redis has, was not loaded.
func (s *Space) observeWait(hit *Hit, err error) {
	if s.cache.observer != nil && (err != nil || hit.Tier == Upstream || hit.Failed != nil) {
		s.cache.observer.Waited(s.name)
	}
}

// observeRequest tells the observer of a sample of the requests. It allocates nothing
// and takes no lock for the others.
func (s *Space) observeRequest(key string) {
	if s.cache.observer == nil {
		return
	}
	weight := s.sampled.Load()
	if weight > 1 && rand.Uint32()&(weight-1) != 0 {
		return
	}
	s.tellOfRequest(key, max(1, weight))
}

func (s *Space) tellOfRequest(key string, weight uint32) {
	if next := s.cache.observer.Requested(s.name, xxhash.Sum64String(key), weight, time.Now()); next != weight {
		s.sampled.Store(next)
	}
}
