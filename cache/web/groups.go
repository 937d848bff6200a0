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

	"sundry/cache/entry"

	"github.com/dunglas/httpsfv"
)

// Cache groups (RFC 9875): an origin names the groups of a response in Cache-Groups. In the response to an unsafe request, it invalidates
// groups by Cache-Group-Invalidation. Each instance has the latest invalidation of each group in memory. A stored response is compared with
// the invalidations of its groups when it is read, so an invalidation costs the same whatever is stored.
//
// In Redis, an invalidation is a value under a key of its group. Instances receive it as an announcement. Before a response from Redis is
// used, or one in memory after an outage, the keys of its groups are looked up.
//
// The removal or move of a WebDAV collection invalidates everything below it in the same way. It is not looked up in Redis, which stores it
// only for a short time.

const (
	// maxGroups limits the groups in a field: a response in more of them is not stored, and a response does not invalidate more of them.
	maxGroups = 128
	// groupNumbers limits the invalidations that are remembered of an API, in memory and in Redis, whatever names its clients make up: each
	// group has a number below it. Groups that have the same number by chance are invalidated together.
	groupNumbers = 1 << 18
	// maxGroupPurges limits the invalidations of all APIs. At the limit, they are replaced by the time of the latest one, until which they
	// apply to all groups and collections.
	maxGroupPurges = 2 * groupNumbers
	// maxDepth limits the collections of a path that are compared with removed ones.
	maxDepth = 64
	// groupTime limits the lookups of the groups of a response. If they take longer, the response is not used.
	groupTime = 100 * time.Millisecond
)

// groupPurges holds the latest invalidations of cache groups.
type groupPurges struct {
	mu        sync.RWMutex
	at        map[uint64]time.Time // by groupID
	latest    time.Time            // of all
	forgotten time.Time            // latest one that was discarded at maxGroupPurges
	changes   atomic.Int64         // number of the times that at has changed
	below     atomic.Bool          // an invalidation of a collection was recorded
}

// add records the invalidation of a group.
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

// GroupsIn returns the names in a field that is a list of strings (RFC 9875), each once, and at most one more than maxGroups. It returns
// nil for any other field, as if it were absent.
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

// groupNumber returns the number of a group, which is below groupNumbers.
func groupNumber(name string) uint64 { return numberOf(name) % groupNumbers }

// groupID returns the key of a group, or with belowWord of a collection, in groupPurges.
func (s *Store) groupID(api, word string, number uint64) uint64 {
	return s.hash(api+word)*groupNumbers + number
}

// groupKey returns the key of a group or a collection in Redis. No URI has this key, because URIs have a slash after the name of the API.
func (s *Store) groupKey(api, word string, number uint64) string {
	return s.farKey(api) + word + strconv.FormatUint(number, 36)
}

const (
	groupWord = " group "
	belowWord = " below "
)

// PurgeGroups invalidates the responses of an API in the groups that Cache-Group-Invalidation names in the response to an unsafe request
// (RFC 9875, section 3), on all instances. Responses that were requested until then and arrive later are not stored.
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

// PurgeBelow invalidates the responses below a URI that a client has removed or replaced, on this instance and those that are subscribed.
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

// heardOfGroup records an invalidation by another instance, unless it is of the future: a stranger may have sent it. ok is false if the key
// is not that of a group or a collection.
func (s *Store) heardOfGroup(key string, created time.Time) (ok bool) {
	for _, word := range [...]string{groupWord, belowWord} {
		api, text, ok := strings.Cut(key, word)
		if !ok || strings.Contains(api, "/") {
			continue
		}
		if number, err := strconv.ParseUint(text, 36, 64); err == nil && (word == belowWord || number < groupNumbers) && time.Until(created) <= entry.Skew {
			s.noteGroup(api, word, number, Heard(created))
		}
		return true
	}
	return false
}

// learnGroups looks up in Redis when the groups of a response were last invalidated. It reports whether all lookups succeeded in time.
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

// GroupsPurged returns when a group of the response, or a collection that contains it, was last invalidated; zero means that no
// invalidation is known.
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

// collectionNumbers returns the numbers of the collections that contain a path, which comes without its first slash.
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

// outOfGroups reports whether a group of the response, or a collection that contains it, was invalidated since the response was requested.
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

// Heard returns the time at which a purge applies that another instance, or an operator, ordered at a time by its own clock. It is a little
// later, because clocks differ, but not after now. A response that is purged in vain is fetched once more.
func Heard(ordered time.Time) time.Time {
	at, now := ordered.Add(ClockSkew), time.Now()
	if at.After(now) {
		return now
	}
	return at
}

// monotonic returns a time with a reading of the monotonic clock. Without it, nothing would be stored after this clock is set back, until
// it catches up.
func monotonic(t time.Time) time.Time {
	now := time.Now()
	return now.Add(t.Sub(now))
}
