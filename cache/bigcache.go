package cache

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"

	"github.com/allegro/bigcache/v3"
)

// seeded is bigcache's hasher with a random seed, so that nobody can choose
// keys which collide with another's.
type seeded struct{ seed maphash.Seed }

func (s seeded) Sum64(key string) uint64 { return maphash.String(s.seed, key) }

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
