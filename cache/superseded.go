package cache

import (
	"sync/atomic"
	"time"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

// Looks for the newer entry of a superseded copy.
const (
	// looksForNewer is how many may find nothing where one was announced. Those that Redis
	// did not answer do not count.
	looksForNewer = 3
	// lookAgain is how long after one that found nothing the next is due.
	lookAgain = time.Second
	// newerPatience is how long a request whose copy is fresh by its own age waits for
	// one: many times as long as Redis takes, and not as long as it may take.
	newerPatience = 30 * time.Millisecond
)

// superseded remembers of which keys another instance has written a newer entry to
// Redis than the near tier has. The next request for such a copy looks there, and where
// it finds nothing newer, the copy is served on for a second, until the next look. It is
// as fresh as ever by its own age, so after some looks it is served without.
//
// It is bounded: a key has two places, and where others have both, its hint displaces one of them, whose copy is
// then served on until it is no longer fresh by its own age. Hints of keys that nobody
// requests any more are displaced like that in time. The zero value is ready.
type superseded struct {
	hints [1 << 16]atomic.Pointer[hint]
	// used is false while there has been no hint, so that nobody looks for one.
	used atomic.Bool
}

// hint says that Redis has an entry of the key created then, or may have had one.
type hint struct {
	key     string
	created time.Time
	outage  bool                   // announcements may have been lost, and what Redis had
	looks   atomic.Int32           // that were answered and found nothing newer
	due     atomic.Int64           // the next look, in Unix nanoseconds
	last    atomic.Pointer[missed] // the last outage that was over at the last look
}

// hint is that of a key's entry that was created earlier than the one in Redis; nil
// when it has none.
func (m *memory) hint(key string, created time.Time) *hint {
	if !m.superseded.used.Load() {
		return nil
	}
	if k := m.hintOf(key).Load(); k != nil && k.key == key && created.Before(k.created) {
		return k
	}
	return nil
}

// dueHint is the hint for which a look is due, or one of its own for an entry that may
// have been replaced while no announcements were heard: then a look before the outage was
// over found nothing because nothing was read, and is no reason to wait. nil: there is none.
func (m *memory) dueHint(key string, created, now time.Time) *hint {
	d, k := m.missed.Load(), m.hint(key, created)
	covered := d.covers(m.hot.hash(key), created)
	switch {
	case k == nil && covered:
		return &hint{key: key, created: d.until, outage: true}
	case k != nil && (now.UnixNano() >= k.due.Load() || covered && k.last.Load() != d):
		return k
	}
	return nil
}

// hintOf returns the place of a key: the one that has its hint, else one that is free, else the first.
func (m *memory) hintOf(key string) *atomic.Pointer[hint] {
	hints, hash := &m.superseded.hints, m.hot.hash(key)
	first, second := &hints[hash%uint64(len(hints))], &hints[hash>>32%uint64(len(hints))]
	one, two := first.Load(), second.Load()
	switch {
	case one != nil && one.key == key:
		return first
	case two != nil && two.key == key, one != nil && two == nil:
		return second
	}
	return first
}

// supersede has a hint for the copy of a key if it was created earlier than an entry in Redis,
// and takes it out of the hot table, where hits look for hints only after an outage of Redis. It returns false
// when there is no such copy.
func (m *memory) supersede(class policy.Class, key string, created time.Time) bool {
	e, found := m.head(class, key)
	if !found || !e.Meta.Created.Before(created) {
		return false
	}
	next, slot := &hint{key: key, created: created}, m.hintOf(key)
	for k := slot.Load(); k == nil || k.key != key || k.outage || k.created.Before(created); k = slot.Load() {
		if slot.CompareAndSwap(k, next) {
			m.superseded.used.Store(true)
			break
		}
	}
	if _, found := m.stored(class, key); !found {
		m.putParts(class, key, &e, m.set) // the hot table alone has it
	}
	m.hot.drop(key)
	return true
}

// notFound notes a look that found nothing newer. One that was not answered is made again
// in a second. Of the others the last one ends the hint, unless a later one has replaced it;
// after an outage that is the first.
func (m *memory) notFound(k *hint, answered bool, now time.Time) {
	k.last.Store(m.missed.Load())
	k.due.Store(now.Add(lookAgain).UnixNano())
	slot := m.hintOf(k.key)
	switch there := slot.Load(); {
	case answered && (k.outage || k.looks.Add(1) >= looksForNewer):
		slot.CompareAndSwap(k, nil)
	case !answered && k.outage && (there == nil || there.key != k.key):
		if slot.CompareAndSwap(there, k) {
			m.superseded.used.Store(true)
		}
	}
}

// replaced is called for each key whose entry an instance of the fleet has replaced in
// Redis. Anybody may have sent that: nothing happens but that the next request for an
// older copy looks there. A creation time that lies ahead by more than clocks differ
// would concern whatever comes, and is ignored.
func (c *Cache) replaced(key string, created time.Time) {
	if time.Until(created) > entry.Skew {
		return
	}
	s := c.spaceOf(key)
	if s == nil && c.beside != nil {
		c.beside.Replaced(key, created)
	}
	if s == nil || !s.usesFar() {
		return
	}
	if c.near.supersede(s.policy.Class, key, created) {
		c.metrics.superseded.Inc()
	}
}

// patience is how long a caller waits for something newer than its copy.
func (s *Space) patience(stale *Answer) time.Duration {
	if stale.superseded && stale.State != policy.Stale {
		return min(newerPatience, s.policy.SoftTimeout)
	}
	return s.policy.SoftTimeout
}

// lookedForNewer chooses between what the look into Redis found, for which the copy's
// hint asked, and the copy. Where that is nothing newer, the copy is served on by its
// own age: an announcement alone is no reason to call an upstream.
func (f *fill) lookedForNewer(got *flightResult) *flightResult {
	now, copied := time.Now(), f.copy.entry.Meta.Created
	if copied.Before(f.hint.created) {
		f.cache.near.notFound(f.hint, f.farAnswered, now)
	}
	if got != nil && !got.entry.Meta.Created.Before(copied) {
		return got
	}
	if f.farLacks || !f.farCreated.IsZero() && f.farCreated.Before(copied) {
		f.writeBack(f.copy.entry)
	}
	switch state := f.stateOf(f.copy.entry, now); {
	case state == policy.Fresh, !f.background && policy.Usable(state) && state != policy.Stale:
		return f.copy
	}
	return got
}

// writeBack writes the near tier's copy of an entry that Redis has lost, or of which it has an older one. Other
// instances may have an older one as well, and are told.
func (f *fill) writeBack(e *entry.Entry) {
	if e.Split() {
		whole, ok := f.cache.near.join(f.policy.Class, f.key, e)
		if !ok {
			return
		}
		e = &whole
	}
	f.writeFar(f.key, e, true)
}
