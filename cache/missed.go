package cache

import (
	"sync/atomic"
	"time"

	"sundry/cache/entry"
)

// missed is an outage, now over, in which this instance heard no announcements. Any
// entry of the near tier may have been replaced in Redis meanwhile, so the first request
// for each looks there, as for one that was announced. Which keys were looked up is
// remembered as a bit for each hash: a copy whose key shares its bit with one that was
// looked up is served on until it is no longer fresh by its own age. In a near tier of
// the default size that is one in a hundred once 80,000 were looked up.
//
// A look that Redis does not answer does not count: the next is due in a second.
type missed struct {
	// until is when it was over, and a little later: what other instances have created
	// has dates by their clocks. Later entries come from fills that have looked.
	until  time.Time
	looked []atomic.Uint64
}

const (
	// missedShare is the part of the near tier's memory that the bits of an outage take.
	missedShare = 1.0 / 256
	// bitsOfWord is how many keys a word stands for.
	bitsOfWord = 64
)

func newMissed(memory int64, now time.Time) *missed {
	words := max(1, int(missedShare*float64(memory))/8)
	return &missed{until: now.Add(entry.Skew), looked: make([]atomic.Uint64, words)}
}

// covers reports whether the entry of that creation time may have been replaced: the
// key with the hash was not looked up since. A nil missed covers nothing.
func (d *missed) covers(hash uint64, created time.Time) bool {
	if d == nil || !created.Before(d.until) {
		return false
	}
	word, bit := d.place(hash)
	return word.Load()&bit == 0
}

// look notes that the key with the hash was looked up.
func (d *missed) look(hash uint64) {
	if d != nil {
		word, bit := d.place(hash)
		word.Or(bit)
	}
}

func (d *missed) place(hash uint64) (word *atomic.Uint64, bit uint64) {
	return &d.looked[hash/bitsOfWord%uint64(len(d.looked))], 1 << (hash % bitsOfWord)
}

// Beside keeps values of its own in the far tier.
type Beside interface {
	// Replaced is called for each of them that an instance has replaced with one created then.
	Replaced(key string, created time.Time)
	// Missed is called when such calls may have been missed until now.
	Missed()
	// Lost is called for each of them, created then, that Redis may lack.
	Lost(key string, created time.Time)
}

// MissedAnnouncements tells the cache that announcements of other instances may have
// been lost until now: the next request for each copy in the near tier looks into Redis
// for a newer entry, once. Without Redis it does nothing.
func (c *Cache) MissedAnnouncements() {
	if c.beside != nil {
		c.beside.Missed()
	}
	if c.far != nil && c.near.counters.stored.Load() > 0 {
		c.near.missed.Store(newMissed(c.near.limit, time.Now()))
	}
}

// Lost tells the cache that Redis may lack an entry created then, or any if the key is "": the next request for the copy in
// the near tier looks there, and writes it again if Redis has nothing newer.
func (c *Cache) Lost(key string, created time.Time) {
	s := c.spaceOf(key)
	switch {
	case key == "":
		c.MissedAnnouncements()
	case s == nil && c.beside != nil:
		c.beside.Lost(key, created)
	case s != nil && s.usesFar():
		c.near.supersede(s.policy.Class, key, created.Add(time.Millisecond))
	}
}

// hears is called when announcements are heard from now on, or no more: then there is
// nothing to be looked up before they are heard again.
func (c *Cache) hears(yes bool) {
	if yes {
		c.MissedAnnouncements()
	} else {
		c.near.missed.Store(nil)
	}
}

// doubtful reports whether an entry of the hot table may have been replaced in Redis
// while this instance heard no announcements, and a look is due. It costs a hit two loads,
// once somebody has found that it was not.
func (m *memory) doubtful(r *hotEntry, now time.Time) bool {
	d := m.missed.Load()
	if d == nil || r.checked.Load() == d {
		return false
	}
	if d.covers(m.hot.hash(r.key), r.Meta.Created) {
		return m.dueHint(r.key, r.Meta.Created, now) != nil
	}
	r.checked.Store(d)
	return false
}
