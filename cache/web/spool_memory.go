package web

import "sync/atomic"

// SpoolMemory bounds what all spools that share it hold, but for one segment of each, with which a body gets through
// whatever others hold. A nil one has no bound. It is safe for concurrent use.
type SpoolMemory struct{ left atomic.Int64 }

// NewSpoolMemory makes one of so many bytes.
func NewSpoolMemory(bytes int64) *SpoolMemory {
	m := &SpoolMemory{}
	m.left.Store(bytes)
	return m
}

// take reserves a segment, if there is one left.
func (m *SpoolMemory) take() bool {
	if m == nil || m.left.Add(-segment) >= 0 {
		return true
	}
	m.left.Add(segment)
	return false
}

// give gives segments back.
func (m *SpoolMemory) give(segments int) {
	if m != nil {
		m.left.Add(int64(segments) * segment)
	}
}
