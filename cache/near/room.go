package near

import (
	"sundry/cache/entry"
	"sundry/cache/policy"
)

// keptShare is the part of a class that may be filled from a snapshot: its shards are
// never filled evenly, and what is read must evict nothing.
const keptShare = 0.9

// Room is how many bytes of each class may still be filled from a snapshot. It is not safe for concurrent use.
type Room struct {
	memory *Memory
	left   [policy.Classes]int
}

// Room returns the room of an empty tier.
func (m *Memory) Room() *Room {
	r := &Room{memory: m}
	for c := range policy.Classes {
		r.left[c] = int(keptShare * float64(m.capacity[c].size))
	}
	return r
}

// Take reserves room for an entry, and reports whether there is enough.
func (r *Room) Take(class policy.Class, key string, e *entry.Entry) bool {
	head, parts := len(key)+len(e.Raw)+valueOverhead, 0
	if wantsSplit(e) {
		n := e.Records()
		head = len(key) + e.HeadSize() + valueOverhead
		parts = len(e.Raw) - e.HeadSize() + n*(len(partKey(key, e.Generation, n))+valueOverhead)
	}
	of := r.memory.classForParts(class, e)
	if r.left[class] < head || r.left[of] < parts || of == class && r.left[class] < head+parts {
		return false
	}
	r.left[class] -= head
	r.left[of] -= parts
	return true
}

// EntryLimit returns how many bytes an entry may have in the largest class.
func (m *Memory) EntryLimit() int {
	largest := 0
	for _, c := range m.capacity {
		largest = max(largest, c.entry)
	}
	return largest
}

// Holds reports whether the tier has an entry of the key, or its head.
func (m *Memory) Holds(class policy.Class, key string) bool {
	_, ok := m.Head(class, key)
	return ok
}

// PutIfAbsent is Put, unless there is an entry of the key, which is newer. It is not
// offered to the hot table: its first hit does that. It reports whether the entry was stored.
func (m *Memory) PutIfAbsent(class policy.Class, key string, e *entry.Entry) bool {
	m.noteCreated(e)
	return m.putParts(class, key, e, m.setIfAbsent)
}

// setIfAbsent is Set, unless the tier holds the key. All writes of entries take the class's lock
// before the hot table learns of them, so that this one cannot replace a newer one.
func (m *Memory) setIfAbsent(class policy.Class, key string, value []byte) bool {
	m.shares[class].mu.Lock()
	defer m.shares[class].mu.Unlock()
	return !m.Holds(class, key) && m.store(class, key, value)
}
