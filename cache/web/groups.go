package web

import (
	"context"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dunglas/httpsfv"
)

// Cache groups (RFC 9875) are names that an origin gives to its responses in Cache-Groups, and by which Cache-Group-Invalidation in the
// response to an unsafe request removes them. Each instance has the latest invalidation of each group in memory. A stored response is
// compared with those of its groups when it is read, so an invalidation costs the same whatever is stored.
//
// In Redis, an invalidation is a value under a key of its group. Instances receive it as an announcement. Before a response from Redis is
// used, or one in memory after an outage, the keys of its groups are looked up.
//
// What WebDAV removes or moves takes away all below it. That is noted likewise, but not looked up in Redis, where it is forgotten soon.

const (
	// maxGroups is how many groups a field may name: a response with more of them is not stored, and more are not invalidated at once.
	maxGroups = 128
	// groupNumbers bounds the invalidations that are remembered of an API, here and in Redis, whatever names its clients make up: groups
	// are told apart by a number below it. Two have the same one by chance, and are invalidated together.
	groupNumbers = 1 << 18
	// maxGroupPurges bounds those of all APIs. If there were more, all that they may be about is fetched again.
	maxGroupPurges = 2 * groupNumbers
	// maxDepth is how many of the collections in a path are compared with those that were removed.
	maxDepth = 64
	// groupTime is how long the lookups of the groups of a response may take before no other one is made.
	groupTime = 100 * time.Millisecond
)

// groupPurges holds the latest invalidations of cache groups.
type groupPurges struct {
	mu        sync.RWMutex
	at        map[uint64]time.Time // by groupID
	latest    time.Time
	forgotten time.Time
	changes   atomic.Int64
	below     atomic.Bool // one of them is of a collection
}

// add notes that a group was invalidated.
func (m *groupPurges) add(id uint64, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, known := m.at[id]
	if known && !at.After(before) {
		return
	}
	if !known && len(m.at) >= maxGroupPurges {
		clear(m.at)
		m.forgotten = m.latest
	}
	if m.at == nil {
		m.at = map[uint64]time.Time{}
	}
	m.at[id] = at
	if at.After(m.latest) {
		m.latest = at
	}
	m.changes.Add(1)
}

// last returns the time of the latest invalidation of one of these groups; zero means that none is known.
func (m *groupPurges) last(ids []uint64) time.Time {
	m.mu.RLock()
	defer m.mu.RUnlock()
	last := m.forgotten
	for _, id := range ids {
		if at := m.at[id]; at.After(last) {
			last = at
		}
	}
	return last
}

// GroupsIn returns the names in a field, which is a list of strings (RFC 9875), each once, and at most one more than maxGroups. It returns nil
// for anything else, as if the field were absent.
func GroupsIn(lines []string) (names []string) {
	if len(lines) == 0 {
		return nil
	}
	list, err := httpsfv.UnmarshalList(lines)
	if err != nil {
		return nil
	}
	for _, member := range list {
		item, _ := member.(httpsfv.Item)
		name, ok := item.Value.(string)
		if !ok {
			return nil
		}
		if len(names) <= maxGroups && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// numberOf returns the number of a name, which is the same on all instances.
func numberOf(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return h.Sum64()
}

// groupNumber returns the number of a group.
func groupNumber(name string) uint64 { return numberOf(name) % groupNumbers }

// groupID returns what a group is known by on this instance, or with belowWord a collection.
func (s *Store) groupID(api, word string, number uint64) uint64 {
	return s.hash(api+word)*groupNumbers + number
}

// groupKey returns the key of that in Redis. No URI has it, because those have a slash after the name of the API.
func (s *Store) groupKey(api, word string, number uint64) string {
	return s.farKey(api) + word + strconv.FormatUint(number, 36)
}

const (
	groupWord = " group "
	belowWord = " below "
)

// PurgeGroups removes what is stored of an API in the groups that Cache-Group-Invalidation names in the response to an unsafe request
// (RFC 9875, section 3), here and for the other instances. What was requested until then and arrives later is not stored.
func (s *Store) PurgeGroups(api string, invalidation []string, at time.Time) {
	names := GroupsIn(invalidation)
	for _, name := range names[:min(len(names), maxGroups)] {
		number := groupNumber(name)
		s.noteGroup(api, groupWord, number, at)
		if s.Far != nil {
			s.Far.Mark(s.groupKey(api, groupWord, number), at, []byte{farGone}, farTime, true)
		}
	}
}

// PurgeBelow removes what is stored below a URI, which a client has removed or replaced, here and on the instances that receive it.
func (s *Store) PurgeBelow(key string, at time.Time) {
	api, path, _ := strings.Cut(key, "/")
	if strings.Contains(path, "?") {
		return
	}
	if path = strings.TrimSuffix(path, "/"); path != "" {
		path += "/"
	}
	number := numberOf(path)
	s.noteGroup(api, belowWord, number, at)
	if s.Far != nil {
		s.Far.Mark(s.groupKey(api, belowWord, number), at, []byte{farGone}, farTime, false)
	}
}

func (s *Store) noteGroup(api, word string, number uint64, at time.Time) {
	if word == belowWord {
		s.groups.below.Store(true)
	}
	s.groups.add(s.groupID(api, word, number), monotonic(at))
}

// heardOfGroup notes an invalidation by another instance if the key is that of a group or a collection.
func (s *Store) heardOfGroup(key string, created time.Time) (ok bool) {
	for _, word := range [...]string{groupWord, belowWord} {
		api, text, ok := strings.Cut(key, word)
		if !ok || strings.Contains(api, "/") {
			continue
		}
		if number, err := strconv.ParseUint(text, 36, 64); err == nil && (word == belowWord || number < groupNumbers) {
			s.noteGroup(api, word, number, Heard(created))
		}
		return true
	}
	return false
}

// learnGroups looks up when the groups of a response were last invalidated. It reports whether all of that is known now.
func (s *Store) learnGroups(ctx context.Context, key string, o *Object) bool {
	api, _, _ := strings.Cut(key, "/")
	for began, i := time.Now(), 0; i < len(o.Groups); i++ {
		number := groupNumber(o.Groups[i])
		found := s.Far.Look(ctx, s.groupKey(api, groupWord, number), 0)
		if !found.Answered || time.Since(began) > groupTime {
			return false
		}
		if found.Value != nil {
			s.noteGroup(api, groupWord, number, Heard(found.Created))
		}
	}
	return true
}

// GroupsPurged returns when a group of the response, or a collection that it is in, was last invalidated; zero means that this is not
// known of any.
func (s *Store) GroupsPurged(key string, o *Object) time.Time {
	api, path, _ := strings.Cut(key, "/")
	var ids []uint64
	for _, name := range o.Groups {
		ids = append(ids, s.groupID(api, groupWord, groupNumber(name)))
	}
	if s.groups.below.Load() {
		for _, number := range collectionNumbers(path) {
			ids = append(ids, s.groupID(api, belowWord, number))
		}
	}
	if ids == nil {
		return time.Time{}
	}
	return s.groups.last(ids)
}

// collectionNumbers returns the numbers of the collections that a path without its first slash is in.
func collectionNumbers(path string) []uint64 {
	path, _, _ = strings.Cut(path, "?")
	h := fnv.New64a()
	numbers := []uint64{h.Sum64()}
	for len(numbers) < maxDepth {
		name, rest, ok := strings.Cut(path, "/")
		if !ok {
			break
		}
		_, _ = h.Write([]byte(name + "/")) // never fails
		numbers, path = append(numbers, h.Sum64()), rest
	}
	return numbers
}

// outOfGroups reports whether a group of the response, or a collection that it is in, was invalidated since it was requested.
func (s *Store) outOfGroups(key string, o *Object) bool {
	changes := s.groups.changes.Load()
	if o.inGroups.Load() == changes || len(o.Groups) == 0 && !s.groups.below.Load() {
		return false
	}
	if !o.Requested.After(s.GroupsPurged(key, o)) {
		return true
	}
	o.inGroups.Store(changes)
	return false
}

// Heard returns when a purge applies that another instance, or an operator, ordered then: to all that was requested until then, and, since
// clocks differ, a little later, but not after now. What is purged in vain is fetched once more.
func Heard(ordered time.Time) time.Time {
	at, now := ordered.Add(ClockSkew), time.Now()
	if at.After(now) {
		return now
	}
	return at
}

// monotonic returns a time with the reading of the monotonic clock: without it, nothing would be stored until a clock that was set back
// has caught up.
func monotonic(t time.Time) time.Time {
	now := time.Now()
	return now.Add(t.Sub(now))
}
