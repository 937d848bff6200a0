// Package confirm decides when a copy in memory is compared with Redis. A copy may be older than what another instance has written to Redis
// since, and Redis may have lost what was written. So a copy that is served is confirmed behind the response: what is newer in Redis
// replaces the copy, and what Redis lacks is written again.
package confirm

import (
	"sync/atomic"
	"time"
)

const (
	// Every is the time for which a copy needs no confirmation, from its creation or its last confirmation.
	Every = 5 * time.Second
	// Again is the time for which a copy needs none after Redis did not answer.
	Again = time.Second
	// Most is the number of copies that are confirmed at the same time.
	Most = 64
	// places is the number of keys that the table holds.
	places = 1 << 16
)

// Table holds the time of the next confirmation of each key, by the hash of the key. Keys with the same place take turns: a key needs no
// confirmation for Again after that of another key. The zero value is ready to use. Table is safe for concurrent use.
type Table struct {
	places  [places]place
	running atomic.Int32
}

type place struct {
	hash    atomic.Uint64 // of the key
	until   atomic.Int64  // Unix nanoseconds
	version atomic.Uint64 // hash of the version in Redis; 0 means that it is not known
}

func (t *Table) of(hash uint64) *place { return &t.places[hash%places] }

// Due reports whether a copy that was created at a time needs a confirmation. A clock that was set back makes it due.
func (t *Table) Due(hash uint64, created, now time.Time) bool {
	if age := now.Sub(created); age >= 0 && age < Every {
		return false
	}
	p := t.of(hash)
	until := p.until.Load()
	if p.hash.Load() != hash {
		until -= int64(Every - Again)
	}
	left := until - now.UnixNano()
	return left <= 0 || left > int64(Every)
}

// Claim is Due, but only one caller gets true. For the others, the copy needs no confirmation then.
func (t *Table) Claim(hash uint64, created, now time.Time) bool {
	p := t.of(hash)
	until := p.until.Load()
	if !t.Due(hash, created, now) || !p.until.CompareAndSwap(until, now.Add(Every).UnixNano()) {
		return false
	}
	if p.hash.Swap(hash) != hash {
		p.version.Store(0)
	}
	return true
}

// Looked records that Redis was asked for the value of a key, and whether it answered.
func (t *Table) Looked(hash uint64, answered bool, now time.Time) {
	p, until := t.of(hash), now.Add(Every)
	if !answered {
		until = now.Add(Again)
	}
	p.until.Store(until.UnixNano())
	p.hash.Store(hash)
	p.version.Store(0)
}

// Confirmed records the hash of the version in Redis by which the copy of a key is the newest.
func (t *Table) Confirmed(hash, version uint64) {
	if p := t.of(hash); p.hash.Load() == hash {
		p.version.Store(version)
	}
}

// IsConfirmedBy reports whether Confirmed has recorded the version last.
func (t *Table) IsConfirmedBy(hash, version uint64) bool {
	p := t.of(hash)
	return p.hash.Load() == hash && p.version.Load() == version
}

// Begin reports whether a confirmation may begin, because fewer than Most run. If so, End must be called.
func (t *Table) Begin() bool {
	if t.running.Add(1) <= Most {
		return true
	}
	t.End()
	return false
}

// End ends a confirmation that has begun.
func (t *Table) End() { t.running.Add(-1) }
