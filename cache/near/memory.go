// Package near is the near tier: the memory in which entries of endpoints are stored by key. Each entry is in bigcache, in the class of
// its policy; what is read often is also in the hot table, whole and decoded.
package near

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"sync/atomic"
	"time"

	"github.com/allegro/bigcache/v3"

	"sundry/cache/entry"
	"sundry/cache/policy"
	"sundry/metrics/panics"
)

// Sizes of the near tier.
const (
	// MinMemory is the smallest cap that New accepts.
	MinMemory = 8 << 20
	// DefaultMemory is the cap when none is given.
	DefaultMemory = 256 << 20
	// inlineMax is the largest entry that is kept, and copied, in one piece.
	inlineMax = 4 << 10
	// keyedMax is the largest entry of callers' input that is kept among small
	// ones: the answer of a lookup is smaller, a picture larger.
	keyedMax = 32 << 10
	// queueShare of the cap is given to bigcache's byte queues; the rest is
	// for the hot table, for the index, and for the slack of doubling.
	queueShare = 0.75
	// shardSize keeps shards large: bigcache refuses an entry larger than its
	// shard, after emptying the whole shard for it. At the default cap, an entry
	// of 8 MiB fits.
	shardSize = 24 << 20
	// entryShare is the part of a shard that one entry may take. Above a half,
	// a shard that has not grown to its size yet could not take it.
	entryShare = 0.4
	// entryOverhead is what an entry's key, type, ETag and location may take.
	entryOverhead = 8 << 10
	// lifeWindow is longer than any policy keeps an entry: bigcache may evict what
	// is older, long after our own deadlines.
	lifeWindow = 400 * 24 * time.Hour
)

// capacity is what a class may hold.
type capacity struct {
	size   int // bytes of all
	shards int
	value  int // bytes of one stored value
	entry  int // bytes of one entry, all its parts together
}

// minShared, in MiB, is enough for the few shared keys, whose number does not
// depend on the memory there is.
const minShared = 3

// layout divides the tier between the classes, by MiB as bigcache counts: a
// sixteenth for computed entries, a quarter for shared ones, and of the rest a
// half each for keyed ones and for large bodies.
func layout(limit int64) [policy.Classes]capacity {
	all := int(float64(limit)*queueShare) >> 20
	computed, shared := max(1, all/16), max(minShared, all/4)
	large := (all - computed - shared) / 2
	return [policy.Classes]capacity{
		policy.Computed: newCapacity(computed), policy.Shared: newCapacity(shared), policy.Large: newCapacity(large),
		policy.Keyed: newCapacity(all - computed - shared - large),
	}
}

func newCapacity(mib int) capacity {
	size, shards := mib<<20, 1
	for shards < 64 && shards*2*shardSize <= size {
		shards *= 2
	}
	return capacity{size, shards, shareOf(size / shards), shareOf(size)}
}

// LargestEntry is how many bytes a body, such as a picture, may have to be cached
// in a near tier of that cap; 0 stands for DefaultMemory. Below MinMemory there is
// no cache, and the result is 0.
func LargestEntry(memory int64) int64 {
	memory = cmp.Or(memory, DefaultMemory)
	if memory < MinMemory {
		return 0
	}
	return int64(layout(memory)[policy.Large].value - entryOverhead)
}

func shareOf(bytes int) int { return int(entryShare * float64(bytes)) }

// Memory is the near tier: one bigcache per class, because bigcache evicts
// first-in first-out, whatever is read. In each class, no endpoint gets more than
// its share while others need it; see endpointShares.
type Memory struct {
	hot      *hotTable
	class    [policy.Classes]*bigcache.BigCache
	shares   [policy.Classes]*endpointShares
	capacity [policy.Classes]capacity
	counters [policy.Classes]counters
	newest   atomic.Int64 // the latest creation time of an entry, in Unix milliseconds
}

// seeded is bigcache's hasher with a random seed, so that nobody can choose
// keys that collide with others'.
type seeded struct{ seed maphash.Seed }

func (s seeded) Sum64(key string) uint64 { return maphash.String(s.seed, key) }

// New sizes the tier for a cap in bytes.
func New(limit int64, p *panics.Catcher) (*Memory, error) {
	if limit < MinMemory {
		return nil, fmt.Errorf("near tier: cap of %d bytes: expected at least %d", limit, int64(MinMemory))
	}
	m := &Memory{capacity: layout(limit)}
	var err error
	if m.hot, err = newHotTable(int(hotShare*float64(limit)), p); err != nil {
		return nil, fmt.Errorf("near tier: hot table: %w", err)
	}
	for c := range policy.Classes {
		big, err := bigcache.New(context.Background(), bigcache.Config{
			Shards:             m.capacity[c].shards,
			LifeWindow:         lifeWindow,
			MaxEntriesInWindow: m.capacity[c].shards * 64,
			MaxEntrySize:       512,
			HardMaxCacheSize:   m.capacity[c].size >> 20,
			Hasher:             seeded{maphash.MakeSeed()},
			OnRemoveWithReason: func(key string, value []byte, why bigcache.RemoveReason) {
				if why == bigcache.NoSpace {
					t := m.shares[c]
					t.evicted = append(t.evicted, evictedValue{key, value})
				}
			},
		})
		if err != nil {
			return nil, fmt.Errorf("near tier: class %s: %w", c, err)
		}
		m.class[c], m.shares[c] = big, newEndpointShares(m.capacity[c].size)
	}
	return m, nil
}

// Queue returns the values of a class, the oldest first: entries under their keys, and the parts of split ones under
// keys with a zero byte. Entries in the hot table are copies of them, but for those that have been evicted here.
func (m *Memory) Queue(class policy.Class) *bigcache.BigCache { return m.class[class] }

// Get finds an entry in bigcache with a body of a form, and offers it to the hot table. An entry whose
// requested part was evicted is not found.
func (m *Memory) Get(class policy.Class, key string, form int) (entry.Entry, entry.Rep, bool) {
	version := m.hot.version(key)
	raw, err := m.class[class].Get(key)
	if err != nil {
		return entry.Entry{}, entry.Rep{}, false
	}
	e, err := entry.Parse(raw)
	if err != nil {
		return entry.Entry{}, entry.Rep{}, false
	}
	rep, err := m.Pick(class, key, &e, form)
	if err != nil {
		// Without the head, the next flight does not mistake the entry for a
		// complete one.
		m.Remove(class, key)
		return e, rep, false
	}
	m.hot.offer(m, class, key, &e, version)
	return e, rep, true
}

// Head finds the entry, or its head alone.
func (m *Memory) Head(class policy.Class, key string) (entry.Entry, bool) {
	if r := m.Hot(key); r != nil {
		return r.Entry, true
	}
	return m.Stored(class, key)
}

// Last finds the entry as it was written: its head as bigcache has it, or all of it where
// only the hot table still has it.
func (m *Memory) Last(class policy.Class, key string) (entry.Entry, bool) {
	if e, ok := m.Stored(class, key); ok {
		return e, true
	}
	if r := m.Hot(key); r != nil {
		return r.Entry, true
	}
	return entry.Entry{}, false
}

// Stored finds the entry's head in bigcache.
func (m *Memory) Stored(class policy.Class, key string) (entry.Entry, bool) {
	raw, err := m.class[class].Get(key)
	if err != nil {
		return entry.Entry{}, false
	}
	e, err := entry.Parse(raw)
	return e, err == nil
}

// Pick chooses a body of the wanted form and reads it. A form without a body gives a
// Rep of status 0.
func (m *Memory) Pick(class policy.Class, key string, e *entry.Entry, form int) (entry.Rep, error) {
	return e.Pick(form, func(n int) ([]byte, error) {
		if e.Split() {
			return m.Part(class, key, e, n)
		}
		return e.Record(n)
	})
}

// partKey names a split part. The zero byte keeps it apart from whole keys,
// which are printable.
func partKey(key string, gen uint64, n int) string {
	b := make([]byte, 0, len(key)+16)
	b = append(append(b, key...), 0)
	b = binary.LittleEndian.AppendUint64(b, gen)
	return string(binary.AppendUvarint(b, uint64(n)))
}

// Part reads a part of a split entry.
func (m *Memory) Part(class policy.Class, key string, e *entry.Entry, n int) ([]byte, error) {
	return m.class[ClassOfParts(class, e)].Get(partKey(key, e.Generation, n))
}

// Join makes a split entry whole again; false when a part was evicted.
func (m *Memory) Join(class policy.Class, key string, e *entry.Entry) (entry.Entry, bool) {
	records := make([][]byte, e.Records())
	for n := range records {
		var err error
		if records[n], err = m.Part(class, key, e, n); err != nil {
			return entry.Entry{}, false
		}
	}
	whole, err := e.Whole(records)
	return whole, err == nil
}

// ClassOfParts is the class that holds the parts of a split entry of a class.
func ClassOfParts(class policy.Class, e *entry.Entry) policy.Class {
	if e.Large() {
		return policy.Large
	}
	return class
}

// classForParts is the class for the parts of an entry: those of large ones do not
// evict small entries of upstreams. Computed entries stay in their own class.
func (m *Memory) classForParts(class policy.Class, e *entry.Entry) policy.Class {
	if class == policy.Keyed && len(e.Raw) > keyedMax || class == policy.Shared && len(e.Raw) > m.capacity[policy.Shared].value {
		return policy.Large
	}
	return class
}

// Put stores a whole entry, split when it is large or a pool. It returns false
// when it does not fit. Only the head is stored under the key, and it says where
// its parts are, so that an entry that grows or shrinks leaves no second copy.
func (m *Memory) Put(class policy.Class, key string, e *entry.Entry) bool {
	stored := m.putParts(class, key, e, m.Set)
	if stored {
		m.enterHot(class, key, e)
	}
	return stored
}

// enterHot tells the hot table of an entry that was just written to bigcache.
func (m *Memory) enterHot(class policy.Class, key string, e *entry.Entry) {
	m.noteCreated(e)
	m.hot.stored(class, key, e)
}

// putParts stores an entry in bigcache, whose head, or all of it, is set by that function.
func (m *Memory) putParts(
	class policy.Class, key string, e *entry.Entry, set func(policy.Class, string, []byte) bool,
) bool {
	if !wantsSplit(e) {
		return set(class, key, e.Raw)
	}
	parts := m.classForParts(class, e)
	return m.setParts(parts, key, e) && set(class, key, e.SplitHead(parts == policy.Large))
}

// setParts stores the parts of an entry in a class.
func (m *Memory) setParts(class policy.Class, key string, e *entry.Entry) bool {
	if len(e.Raw) > m.capacity[class].entry {
		m.counters[class].refused.Add(1)
		return false
	}
	for n := range e.Records() {
		rec, err := e.Record(n)
		if err != nil || !m.Set(class, partKey(key, e.Generation, n), rec) {
			return false
		}
	}
	return true
}

// Renew reuses the parts of a split entry with the same content: only the head is
// stored.
func (m *Memory) Renew(class policy.Class, key string, e, old *entry.Entry) bool {
	stored := m.Set(class, key, e.SplitHead(old.Large()))
	if stored {
		m.enterHot(class, key, e)
	}
	return stored
}

// Set stores a value.
func (m *Memory) Set(class policy.Class, key string, value []byte) bool {
	m.shares[class].mu.Lock()
	defer m.shares[class].mu.Unlock()
	return m.store(class, key, value)
}

// store is Set with the class's lock held. It refuses a value for which bigcache would empty
// the shard.
func (m *Memory) store(class policy.Class, key string, value []byte) bool {
	if len(key)+len(value) > m.capacity[class].value || m.write(class, key, value) != nil {
		m.counters[class].refused.Add(1)
		return false
	}
	return true
}

// PartBytes is the size of the parts that have not been evicted.
func (m *Memory) PartBytes(class policy.Class, key string, e *entry.Entry) int {
	total := 0
	for n := range e.Records() {
		if b, err := m.Part(class, key, e, n); err == nil {
			total += len(b)
		}
	}
	return total
}

// Remove removes an entry's head, without which its parts are not found.
func (m *Memory) Remove(class policy.Class, key string) {
	m.shares[class].mu.Lock()
	defer m.shares[class].mu.Unlock()
	m.drop(class, key)
}

// RemoveUntil removes the key's entry, unless all of it was created after at. It returns
// when that was created which it removed; zero: nothing.
func (m *Memory) RemoveUntil(class policy.Class, key string, at, now time.Time) (created time.Time) {
	m.shares[class].mu.Lock()
	defer m.shares[class].mu.Unlock()
	e, ok := m.Last(class, key)
	if !ok || !e.Meta.MadeBefore(at, now) {
		return time.Time{}
	}
	m.drop(class, key)
	return e.Meta.Created
}

// drop is Remove with the class's lock held.
func (m *Memory) drop(class policy.Class, key string) {
	_ = m.class[class].Delete(key) // fails only if it is gone already
	m.hot.drop(key)
}

// Close ends the tier, when nobody uses it any more.
func (m *Memory) Close() error {
	m.Wait()
	for _, c := range m.class {
		if err := c.Close(); err != nil {
			return err
		}
	}
	return nil
}

// wantsSplit reports whether the near tier stores the entry in parts, so that a hit
// copies only the bytes that it sends.
func wantsSplit(e *entry.Entry) bool {
	if len(e.Raw) > inlineMax {
		return true
	}
	for i := range e.Forms {
		if bodies, _ := e.Form(i); bodies > 1 {
			return true
		}
	}
	return false
}
