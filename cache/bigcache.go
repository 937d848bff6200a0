package cache

import (
	"context"
	"fmt"
	"hash/maphash"

	"github.com/allegro/bigcache/v3"
)

// seeded is bigcache's hasher with a random seed, so that nobody can choose
// keys which collide with another's.
type seeded struct{ seed maphash.Seed }

func (s seeded) Sum64(key string) uint64 { return maphash.String(s.seed, key) }

// layout of the tier for a cap in bytes: the MiB of a class, as bigcache counts,
// and in how many shards.
func layout(limit int64) (perClass, shards int) {
	perClass = int(float64(limit)*queueShare) / int(classes) >> 20
	shards = 1
	for shards < 64 && shards*2*shardSize <= perClass<<20 {
		shards *= 2
	}
	return perClass, shards
}

// LargestEntry is how many bytes a body may have, such as a picture, to be kept
// in memory of that cap; 0 stands for DefaultMemory. Below MinMemory there is
// no cache, and nothing is kept.
func LargestEntry(memory int64) int64 {
	if memory == 0 {
		memory = DefaultMemory
	}
	if memory < MinMemory {
		return 0
	}
	perClass, shards := layout(memory)
	return int64(shareOf(perClass<<20/shards) - entryRoom)
}

func shareOf(bytes int) int { return int(entryShare * float64(bytes)) }

// newMemory sizes the tier for a cap in bytes, half for each class.
func newMemory(limit int64, seen *memoryCounters) (*memory, error) {
	if limit < MinMemory {
		return nil, fmt.Errorf("near tier: cap of %d bytes: want at least %d", limit, int64(MinMemory))
	}
	perClass, shards := layout(limit)
	size := perClass << 20
	m := &memory{size: size, limit: shareOf(size / shards), room: shareOf(size), seen: seen}
	for c := range classes {
		big, err := bigcache.New(context.Background(), bigcache.Config{
			Shards:             shards,
			LifeWindow:         longest,
			MaxEntriesInWindow: shards * 64,
			MaxEntrySize:       512,
			HardMaxCacheSize:   perClass,
			Hasher:             seeded{maphash.MakeSeed()},
			OnRemoveWithReason: func(_ string, _ []byte, why bigcache.RemoveReason) {
				if why == bigcache.NoSpace {
					seen.evicted[c].Add(1)
				}
			},
		})
		if err != nil {
			return nil, fmt.Errorf("near tier: class %s: %w", c, err)
		}
		m.class[c] = big
	}
	return m, nil
}
