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

const (
	// maxGroups is how many groups a field may name: a response with more of them is not stored, and more are not invalidated at once.
	maxGroups = 128
	// groupNumbers bounds the invalidations that are remembered of an API, here and in Redis, whatever names its clients make up: groups
	// are told apart by a number below it. Two have the same one by chance, and are invalidated together.
	groupNumbers = 1 << 18
	// maxGroupPurges bounds those of all APIs. If there were more, the responses that have groups are fetched again.
	maxGroupPurges = 2 * groupNumbers
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

// GroupsIn returns the names in a field, which is a list of strings (RFC 9875). It returns nil for anything else, as if the field were absent.
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
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// groupNumber returns the number of a group, which is the same on all instances.
func groupNumber(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return h.Sum64() % groupNumbers
}

// groupID returns what a group is known by on this instance.
func (s *Store) groupID(api string, number uint64) uint64 { return s.hash(api)*groupNumbers + number }

// groupKey returns the key of a group in Redis. No URI has it, because those have a slash after the name of the API.
func (s *Store) groupKey(api string, number uint64) string {
	return s.farKey(api) + groupWord + strconv.FormatUint(number, 36)
}

const groupWord = " group "

// PurgeGroups removes what is stored of an API in the groups that Cache-Group-Invalidation names in the response to an unsafe request
// (RFC 9875, section 3), here and for the other instances. What was requested until then and arrives later is not stored.
func (s *Store) PurgeGroups(api string, invalidation []string, at time.Time) {
	names := GroupsIn(invalidation)
	for _, name := range names[:min(len(names), maxGroups)] {
		number := groupNumber(name)
		s.groups.add(s.groupID(api, number), monotonic(at))
		if s.Far != nil {
			s.Far.Mark(s.groupKey(api, number), at, []byte{farGone}, farTime, true)
		}
	}
}

// heardOfGroup notes an invalidation by another instance if the key is that of a group.
func (s *Store) heardOfGroup(key string, created time.Time) (ok bool) {
	api, text, ok := strings.Cut(key, groupWord)
	if !ok || strings.Contains(api, "/") {
		return false
	}
	if number, err := strconv.ParseUint(text, 36, 64); err == nil && number < groupNumbers {
		s.groups.add(s.groupID(api, number), monotonic(Heard(created)))
	}
	return true
}

// learnGroups looks up when the groups of a response were last invalidated. It reports whether all of that is known now.
func (s *Store) learnGroups(ctx context.Context, key string, o *Object) bool {
	api, _, _ := strings.Cut(key, "/")
	for began, i := time.Now(), 0; i < len(o.Groups); i++ {
		number := groupNumber(o.Groups[i])
		found := s.Far.Look(ctx, s.groupKey(api, number), 0)
		if !found.Answered || time.Since(began) > groupTime {
			return false
		}
		if found.Value != nil {
			s.groups.add(s.groupID(api, number), monotonic(Heard(found.Created)))
		}
	}
	return true
}

// GroupsPurged returns when a group of the response was last invalidated; zero means that this is not known of any.
func (s *Store) GroupsPurged(key string, o *Object) time.Time {
	if len(o.Groups) == 0 {
		return time.Time{}
	}
	api, _, _ := strings.Cut(key, "/")
	ids := make([]uint64, len(o.Groups))
	for i, name := range o.Groups {
		ids[i] = s.groupID(api, groupNumber(name))
	}
	return s.groups.last(ids)
}

// outOfGroups reports whether a group of the response was invalidated since it was requested.
func (s *Store) outOfGroups(key string, o *Object) bool {
	changes := s.groups.changes.Load()
	if len(o.Groups) == 0 || o.inGroups.Load() == changes {
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
