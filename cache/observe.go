package cache

import (
	"math/rand/v2"
	"time"

	"github.com/cespare/xxhash/v2"

	"sundry/cache/entry"
)

// Observer is told of the requests for the spaces of a cache.
type Observer interface {
	// Requested is told of a request that stands for so many of its space, and returns
	// how many the next one is to stand for: a power of two, 1 for each.
	Requested(space string, key uint64, weight uint32, now time.Time) (next uint32)
}

// Filled is what a fill has found out.
type Filled struct {
	// Space is the name of the space.
	Space string
	// Key is a hash of the key, the same in every process, and Name the key itself, which
	// may be personal.
	Key  uint64
	Name string
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
	// Digest is that of the content, the same in every process.
	Digest uint64
	// Failed is why nothing came that could be stored; nil: something did. Then there is
	// neither a source nor a digest, and Before is about the copy that stays.
	Failed error
}

// Outcome is that of a fill in one word. Where another source answered than before, nothing
// is known of a change, as with the first answer: sources render differently.
func (f *Filled) Outcome() string {
	switch {
	case f.Failed != nil:
		return "failed"
	case f.Before.IsZero(), f.BeforeSource != f.Source:
		return "first"
	case f.Changed:
		return "changed"
	}
	return "unchanged"
}

// OnFill has a function told of each fill: of each answer that was loaded and stored, but for
// negative ones and those of a last resort, and of each failure to load one. As an Observer it
// is called by many goroutines on the way of requests, and returns soon. OnFill is called
// before the first request.
func (c *Cache) OnFill(told func(Filled)) { c.told = append(c.told, told) }

func (c *Cache) tellOfFill(f Filled) {
	for _, told := range c.told {
		told(f)
	}
}

// observeFill tells of an entry that was stored in the place of old.
func (s *Space) observeFill(key string, e, old *entry.Entry) {
	if len(s.cache.told) == 0 || e.Meta.Replaceable() {
		return
	}
	f := Filled{Space: s.name, Key: xxhash.Sum64String(key), Name: key, Source: e.Meta.Source, At: e.Meta.Created, Digest: e.Digest}
	if old.Raw != nil && !old.Meta.Replaceable() && old.Meta.Created.Before(e.Meta.Created) {
		f.Before, f.BeforeSource, f.Changed = old.Meta.Created, old.Meta.Source, old.Digest != e.Digest
	}
	s.cache.tellOfFill(f)
}

// observeFailure tells of a fill that began at a time and came to nothing, and why.
func (f *fill) observeFailure(began time.Time, err error) {
	if len(f.cache.told) == 0 {
		return
	}
	told := Filled{Space: f.name, Key: xxhash.Sum64String(f.key), Name: f.key, At: began, Failed: err}
	if f.copy != nil {
		told.Before, told.BeforeSource = f.copy.entry.Meta.Created, f.copy.entry.Meta.Source
	}
	f.cache.tellOfFill(told)
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
