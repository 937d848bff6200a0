package cache

import (
	"strings"
	"time"

	"sundry/cache/entry"
	"sundry/cache/near"
	"sundry/cache/policy"
	"sundry/cache/snapshot"
)

// Kept is what a snapshot keeps of the near tier: not failures, nor what Redis holds.
// What the policies and purges in force call gone is not read, and nothing replaces what was stored meanwhile.
// keeps reports whether the entry of a key may be in the file, when it is written and when it is read. knownSince returns the time
// from which on all is known, when the file is read, that was purged by its key while nobody ran; zero means all.
// Both must be safe for concurrent use.
func (c *Cache) Kept(keeps func(key string) bool, knownSince func() time.Time) snapshot.Cache {
	k := &kept{cache: c, keeps: keeps, knownSince: knownSince, room: c.near.Room()}
	return snapshot.Cache{Version: entry.LayoutVersion, Largest: int64(c.near.EntryLimit()), All: k.all, Admit: k.admit}
}

type kept struct {
	cache      *Cache
	keeps      func(string) bool
	knownSince func() time.Time
	room       *near.Room
}

// spaceOf finds the space of a key whose entries may be in the file. Else it says why not.
func (k *kept) spaceOf(key string) (*Space, snapshot.Outcome) {
	if !k.keeps(key) {
		return nil, snapshot.Unknown
	}
	space := k.cache.spaceOf(key)
	switch {
	case space == nil || !space.policy.Stores():
		return nil, snapshot.Unknown
	case space.usesFar():
		return nil, snapshot.Redis
	}
	return space, snapshot.Read
}

// all yields the entries of the hot table, then those of each class. It holds no lock for longer than it takes to
// copy one value, or the hashes of a shard's keys.
func (k *kept) all(yield func(string, []byte) bool) {
	memory, done := k.cache.near, map[uint64]struct{}{}
	for key, r := range memory.AllHot() {
		done[memory.Hash(key)] = struct{}{}
		space, _ := k.spaceOf(key)
		if raw := k.whole(space, key, &r.Entry); raw != nil && !yield(key, raw) {
			return
		}
	}
	for _, class := range [...]policy.Class{policy.Shared, policy.Keyed, policy.Computed} { // Large has only parts
		if !k.class(class, done, yield) {
			return
		}
	}
}

// class yields the entries of one class but those whose hashes are done. It returns false when no more are wanted.
func (k *kept) class(class policy.Class, done map[uint64]struct{}, yield func(string, []byte) bool) bool {
	memory := k.cache.near
	for it := memory.Queue(class).Iterator(); it.SetNext(); {
		item, err := it.Value()
		if err != nil {
			continue // evicted meanwhile
		}
		key := item.Key()
		if _, done := done[memory.Hash(key)]; done || strings.IndexByte(key, 0) >= 0 {
			continue
		}
		e, err := entry.Parse(item.Value()) // a copy
		space, _ := k.spaceOf(key)
		if err != nil || space == nil || space.policy.Class != class { // or it is overwritten meanwhile
			continue
		}
		if raw := k.whole(space, key, &e); raw != nil && !yield(key, raw) {
			return false
		}
	}
	return true
}

// whole returns an entry that may still be used, in one piece; nil for any other. One that a purge has made stale is left out:
// after a restart nobody may know of the purge.
func (k *kept) whole(space *Space, key string, e *entry.Entry) []byte {
	if space == nil {
		return nil
	}
	now := time.Now()
	state, _ := space.state(key, &e.Meta, now)
	if own, _ := space.policy.State(&e.Meta, now); !policy.Usable(state) || state != own {
		return nil
	}
	if !e.Split() {
		return e.Raw
	}
	whole, ok := k.cache.near.Join(space.policy.Class, key, e)
	if !ok {
		return nil
	}
	return whole.Raw
}

// admit puts an entry into the near tier, or says why not.
func (k *kept) admit(key string, raw []byte) snapshot.Outcome {
	now := time.Now()
	e, err := entry.Parse(raw)
	if err != nil || e.Check(now) != nil || !entry.Printable(key) {
		return snapshot.Broken
	}
	space, outcome := k.spaceOf(key)
	if space == nil {
		return outcome
	}
	if state, _ := space.state(key, &e.Meta, now); !policy.Usable(state) || !e.Meta.OldestPart().After(k.knownSince()) {
		return snapshot.Gone
	}
	class, memory := space.policy.Class, k.cache.near
	switch {
	case memory.Holds(class, key):
		return snapshot.Newer
	case !k.room.Take(class, key, &e):
		return snapshot.Full
	case !memory.PutIfAbsent(class, key, &e):
		return snapshot.Newer
	}
	space.removeIfPurged(key, &e)
	return snapshot.Read
}
