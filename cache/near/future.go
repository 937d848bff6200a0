package near

import (
	"slices"
	"strings"
	"time"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

// noteCreated notes the creation time of an entry that was stored.
func (m *Memory) noteCreated(e *entry.Entry) {
	created := e.Meta.Created.UnixMilli()
	for last := m.newest.Load(); created > last && !m.newest.CompareAndSwap(last, created); {
		last = m.newest.Load()
	}
}

// RemoveFuture removes the entries of these endpoints that are from the future: when the
// clock reaches their dates, they would look as if they had been made after a purge of now.
// There are none but where it was set back, so it seldom looks for them.
func (m *Memory) RemoveFuture(endpoints []string, now time.Time) {
	if time.UnixMilli(m.newest.Load()).Sub(now) <= entry.Skew {
		return
	}
	purged := func(key string, e *entry.Entry) bool {
		return e.Meta.FromFuture(now) && (slices.Contains(endpoints, policy.AllEndpoints) || slices.Contains(endpoints, endpointOf(key)))
	}
	for class := range policy.Classes {
		for it := m.class[class].Iterator(); it.SetNext(); {
			item, err := it.Value()
			if err != nil || strings.IndexByte(item.Key(), 0) >= 0 {
				continue // evicted meanwhile, or a part
			}
			if e, err := entry.Parse(item.Value()); err == nil && purged(item.Key(), &e) {
				m.Remove(class, item.Key())
			}
		}
	}
	for key, r := range m.hot.table.All() { // what bigcache has evicted
		if purged(key, &r.Entry) {
			m.hot.drop(key)
		}
	}
}
