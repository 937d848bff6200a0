package cache

import (
	"slices"
	"strings"
	"time"
)

// skew is how far ahead another clock is believed to be at most: that of the instance
// that gave an order or made an entry, or this one before it was set back.
const skew = time.Second

// fromFuture reports whether the entry was created after now: by a clock that is ahead, or
// before this one was set back. Nobody knows how old it is.
func (m *Meta) fromFuture(now time.Time) bool { return m.Created.Sub(now) > skew }

// futureState is the state of an entry from the future, which is only better than none.
func (p *Policy) futureState(m *Meta, now time.Time) State {
	if m.expired(now) || max(p.Grace, p.StaleIfError) == 0 {
		return Gone
	}
	return Stale
}

// madeBefore reports whether a purge at that time, of its endpoint or of its key, applies to
// the entry; zero: none does.
// An entry from the future may have been made before any purge.
func (m *Meta) madeBefore(purge, now time.Time) bool {
	return !purge.IsZero() && (!m.oldestPart().After(purge) || m.fromFuture(now))
}

// noteCreated notes the creation time of an entry that was stored.
func (m *memory) noteCreated(e *entry) {
	created := e.meta.Created.UnixMilli()
	for last := m.newest.Load(); created > last && !m.newest.CompareAndSwap(last, created); {
		last = m.newest.Load()
	}
}

// removeFuture removes the entries of these endpoints that are from the future: when the
// clock reaches their dates, they would look as if they had been made after a purge of now.
// There are none but where it was set back, so it seldom looks for them.
func (m *memory) removeFuture(endpoints []string, now time.Time) {
	if time.UnixMilli(m.newest.Load()).Sub(now) <= skew {
		return
	}
	purged := func(key string, e *entry) bool {
		return e.meta.fromFuture(now) && (slices.Contains(endpoints, AllEndpoints) || slices.Contains(endpoints, endpointOf(key)))
	}
	for class := range classes {
		for it := m.class[class].Iterator(); it.SetNext(); {
			item, err := it.Value()
			if err != nil || strings.IndexByte(item.Key(), 0) >= 0 {
				continue // evicted meanwhile, or a part
			}
			if e, err := parse(item.Value()); err == nil && purged(item.Key(), &e) {
				m.remove(class, item.Key())
			}
		}
	}
	for key, r := range m.hot.table.All() { // what bigcache has evicted
		if purged(key, &r.entry) {
			m.hot.drop(key)
		}
	}
}
