package cache

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"time"

	"github.com/allegro/bigcache/v3"
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
	// ones: a lookup's answer in all its codings is smaller, a picture larger.
	keyedMax = 32 << 10
	// queueShare of the cap is given to bigcache's byte queues; the rest is
	// for its index and for the slack of doubling.
	queueShare = 0.75
	// shardSize keeps shards large: bigcache refuses an entry larger than its
	// shard, and throws the whole shard away first. At the default cap, an entry
	// of 8 MiB finds room.
	shardSize = 24 << 20
	// entryShare is the part of a shard that one entry may take. Above a half,
	// a shard that has not grown to its size yet could not take it.
	entryShare = 0.4
	// entryRoom is what an entry's key, type, ETag and location may take.
	entryRoom = 8 << 10
	// longest is past every policy's use of an entry; bigcache may drop what
	// is older, and our own deadlines decide long before.
	longest = 400 * 24 * time.Hour
)

// room is what a class may hold.
type room struct {
	size   int // bytes of all
	shards int
	value  int // bytes of one stored value
	entry  int // bytes of one entry, all its parts together
}

// sharedLeast is enough for what everybody asks for, which does not grow with
// the memory there is.
const sharedLeast = 3

// layout divides the tier, by MiB as bigcache counts: a sixteenth for what is
// computed, a quarter for what everybody asks for, and of the rest a half each
// for callers' input and for its large bodies.
func layout(limit int64) [classes]room {
	all := int(float64(limit)*queueShare) >> 20
	computed, shared := max(1, all/16), max(sharedLeast, all/4)
	large := (all - computed - shared) / 2
	return [classes]room{
		Computed: newRoom(computed), Shared: newRoom(shared), Large: newRoom(large),
		Keyed: newRoom(all - computed - shared - large),
	}
}

func newRoom(mib int) room {
	size, shards := mib<<20, 1
	for shards < 64 && shards*2*shardSize <= size {
		shards *= 2
	}
	return room{size, shards, shareOf(size / shards), shareOf(size)}
}

// LargestEntry is how many bytes a body may have, such as a picture, to be kept
// in memory of that cap; 0 stands for DefaultMemory. Below MinMemory there is
// no cache, and nothing is kept.
func LargestEntry(memory int64) int64 {
	memory = cmp.Or(memory, DefaultMemory)
	if memory < MinMemory {
		return 0
	}
	return int64(layout(memory)[Large].value - entryRoom)
}

func shareOf(bytes int) int { return int(entryShare * float64(bytes)) }

// memory is the near tier: one bigcache per class, because bigcache evicts
// first-in first-out and reads protect nothing. Of each class, no endpoint gets
// more than its share while others want room; see turnover.
type memory struct {
	class [classes]*bigcache.BigCache
	turn  [classes]*turnover
	room  [classes]room
	seen  *memoryCounters
}

// seeded is bigcache's hasher with a random seed, so that nobody can choose
// keys which collide with another's.
type seeded struct{ seed maphash.Seed }

func (s seeded) Sum64(key string) uint64 { return maphash.String(s.seed, key) }

// newMemory sizes the tier for a cap in bytes.
func newMemory(limit int64, seen *memoryCounters) (*memory, error) {
	if limit < MinMemory {
		return nil, fmt.Errorf("near tier: cap of %d bytes: want at least %d", limit, int64(MinMemory))
	}
	m := &memory{room: layout(limit), seen: seen}
	for c := range classes {
		big, err := bigcache.New(context.Background(), bigcache.Config{
			Shards:             m.room[c].shards,
			LifeWindow:         longest,
			MaxEntriesInWindow: m.room[c].shards * 64,
			MaxEntrySize:       512,
			HardMaxCacheSize:   m.room[c].size >> 20,
			Hasher:             seeded{maphash.MakeSeed()},
			OnRemoveWithReason: func(key string, value []byte, why bigcache.RemoveReason) {
				if why == bigcache.NoSpace {
					t := m.turn[c]
					t.last = append(t.last, stored{key, value})
				}
			},
		})
		if err != nil {
			return nil, fmt.Errorf("near tier: class %s: %w", c, err)
		}
		m.class[c], m.turn[c] = big, newTurnover(m.room[c].size)
	}
	return m, nil
}

// get finds the entry and the representation that is wanted. An entry whose
// wanted part was evicted is not found.
func (m *memory) get(class Class, key string, want Want) (entry, Rep, bool) {
	raw, err := m.class[class].Get(key)
	if err != nil {
		return entry{}, Rep{}, false
	}
	e, err := parse(raw)
	if err != nil {
		return entry{}, Rep{}, false
	}
	rep, err := m.pick(class, key, &e, want)
	if err != nil {
		// Without the head, the flight that follows cannot take the entry for
		// complete. A head that is gone already is as good.
		m.drop(class, key)
	}
	return e, rep, err == nil
}

// head finds the entry's head alone.
func (m *memory) head(class Class, key string) (entry, bool) {
	raw, err := m.class[class].Get(key)
	if err != nil {
		return entry{}, false
	}
	e, err := parse(raw)
	return e, err == nil
}

// pick chooses a body of the wanted form and reads it in the best coding. A
// form without a body gives a Rep of status 0.
func (m *memory) pick(class Class, key string, e *entry, want Want) (Rep, error) {
	bodies, has := e.form(want.Form)
	if bodies == 0 {
		return Rep{}, nil
	}
	coding := has.best(want.Accept)
	n := e.ordinal(want.Form, choose(bodies), coding)
	if !e.split() {
		rec, err := e.record(n)
		if err != nil {
			return Rep{}, err
		}
		return parseRecord(rec, coding, has)
	}
	rec, err := m.class[e.partsIn(class)].Get(partKey(key, e.gen, n))
	if err != nil {
		return Rep{}, err
	}
	return parseRecord(rec, coding, has)
}

// choose is a fair pick of one of n.
func choose(n int) int {
	if n < 2 {
		return 0
	}
	return rand.IntN(n)
}

// partKey names a split part. The zero byte keeps it apart from whole keys,
// which are printable.
func partKey(key string, gen uint64, n int) string {
	b := make([]byte, 0, len(key)+16)
	b = append(append(b, key...), 0)
	b = binary.LittleEndian.AppendUint64(b, gen)
	return string(binary.AppendUvarint(b, uint64(n)))
}

func (m *memory) hasPart(class Class, key string, e *entry, n int) bool {
	_, err := m.class[e.partsIn(class)].Get(partKey(key, e.gen, n))
	return err == nil
}

// partsIn is the class that holds the parts of a split entry of this class.
func (e *entry) partsIn(class Class) Class {
	if e.large() {
		return Large
	}
	return class
}

// placeOf is the class for the parts of an entry: those of large ones do not
// drive out what is small and was hard to get. What is computed stays by itself.
func (m *memory) placeOf(class Class, e *entry) Class {
	if class == Keyed && len(e.raw) > keyedMax || class == Shared && len(e.raw) > m.room[Shared].value {
		return Large
	}
	return class
}

// put stores a whole entry, split when it is large or a pool. It returns false
// when it does not fit. The head alone is found by the key, and knows where its
// parts are, so that an entry that grows or shrinks leaves no twin behind.
func (m *memory) put(class Class, key string, e *entry) bool {
	if !e.wantsSplit() {
		return m.set(class, key, e.raw)
	}
	parts := m.placeOf(class, e)
	if len(e.raw) > m.room[parts].entry {
		m.seen.refused[parts].Add(1)
		return false
	}
	for n := range e.records() {
		rec, err := e.record(n)
		if err != nil || !m.set(parts, partKey(key, e.gen, n), rec) {
			return false
		}
	}
	return m.putHead(class, key, e, parts == Large)
}

// renew takes over the parts of a split entry of the same content: the head
// alone is stored.
func (m *memory) renew(class Class, key string, e, old *entry) bool {
	return m.putHead(class, key, e, old.large())
}

func (m *memory) putHead(class Class, key string, e *entry, large bool) bool {
	head := append([]byte(nil), e.raw[:e.table+e.forms*formRow]...)
	head[1] |= flagSplit
	if large {
		head[1] |= flagLarge
	}
	return m.set(class, key, head)
}

// set refuses what bigcache would answer by emptying the shard.
func (m *memory) set(class Class, key string, value []byte) bool {
	if len(key)+len(value) > m.room[class].value {
		m.seen.refused[class].Add(1)
		return false
	}
	m.turn[class].mu.Lock()
	defer m.turn[class].mu.Unlock()
	if err := m.write(class, key, value); err != nil {
		m.seen.refused[class].Add(1)
		return false
	}
	return true
}

// partBytes adds up the parts that are still there.
func (m *memory) partBytes(class Class, key string, e *entry) int {
	total := 0
	for n := range e.records() {
		if b, err := m.class[e.partsIn(class)].Get(partKey(key, e.gen, n)); err == nil {
			total += len(b)
		}
	}
	return total
}

// drop removes an entry's head; its parts are of no use without it.
func (m *memory) drop(class Class, key string) {
	m.turn[class].mu.Lock()
	defer m.turn[class].mu.Unlock()
	_ = m.class[class].Delete(key) // one that is gone already is as good
}

func (m *memory) close() error {
	for _, c := range m.class {
		if err := c.Close(); err != nil {
			return err
		}
	}
	return nil
}

// records is the number of records of all forms.
func (e *entry) records() int { return e.ordinal(e.forms, 0, Identity) }

// wantsSplit tells whether the near tier keeps the entry in parts, so that a
// hit copies no more than it sends.
func (e *entry) wantsSplit() bool {
	if len(e.raw) > inlineMax {
		return true
	}
	for i := range e.forms {
		if bodies, _ := e.form(i); bodies > 1 {
			return true
		}
	}
	return false
}
