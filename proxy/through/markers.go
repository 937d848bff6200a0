package through

import (
	"hash/maphash"
	"sync/atomic"
	"time"
)

const (
	// markerTime is how long it is remembered that a response could not be shared.
	markerTime = 10 * time.Second
	// maxMarkers bounds how many are; one displaces another.
	maxMarkers = 1 << 12
)

// markers remember for which keys the origin last gave what only one caller may have: requests for these wait for nobody. What those with
// credentials get says nothing of others. One that is lost costs one wait more. Keys are as long as callers like, so there are hashes of them alone. The zero value is not
// ready: see newMarkers.
type markers struct {
	seed  maphash.Seed
	table [maxMarkers]atomic.Pointer[marker]
}

type marker struct {
	hash  uint64
	until time.Time
}

func newMarkers() *markers { return &markers{seed: maphash.MakeSeed()} }

// markerKey is the key of a response, its site, and whether it is for requests with credentials.
type markerKey struct {
	key, site   string
	credentials bool
}

func (m *markers) slot(key markerKey) (slot *atomic.Pointer[marker], hash uint64) {
	hash = maphash.Comparable(m.seed, key)
	return &m.table[hash%maxMarkers], hash
}

// set marks a key, or ends its mark once its responses can be shared.
func (m *markers) set(key markerKey, unshared bool, now time.Time) {
	slot, hash := m.slot(key)
	if unshared {
		slot.Store(&marker{hash, now.Add(markerTime)})
		return
	}
	if k := slot.Load(); k != nil && k.hash == hash {
		slot.CompareAndSwap(k, nil)
	}
}

// has reports whether a key is marked.
func (m *markers) has(key markerKey, now time.Time) bool {
	slot, hash := m.slot(key)
	k := slot.Load()
	return k != nil && k.hash == hash && now.Before(k.until)
}
