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

// markers remember for which keys the origin last gave what only one caller may have: requests for these wait for nobody. One
// that is lost costs one wait more. The zero value is not ready: see newMarkers.
type markers struct {
	seed  maphash.Seed
	table [maxMarkers]atomic.Pointer[marker]
}

type marker struct {
	key   string
	until time.Time
}

func newMarkers() *markers { return &markers{seed: maphash.MakeSeed()} }

func (m *markers) slot(key string) *atomic.Pointer[marker] {
	return &m.table[maphash.String(m.seed, key)%maxMarkers]
}

// set marks a key, or ends its mark once its responses can be shared.
func (m *markers) set(key string, unshared bool, now time.Time) {
	slot := m.slot(key)
	if unshared {
		slot.Store(&marker{key, now.Add(markerTime)})
		return
	}
	if k := slot.Load(); k != nil && k.key == key {
		slot.CompareAndSwap(k, nil)
	}
}

// has reports whether a key is marked.
func (m *markers) has(key string, now time.Time) bool {
	k := m.slot(key).Load()
	return k != nil && k.key == key && now.Before(k.until)
}
