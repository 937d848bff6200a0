package cache

import (
	"sync"
	"sync/atomic"
	"time"
)

// Mark is an operator's purge of an endpoint: what is older than it no longer
// counts, nor what was made of parts that are. It is applied when an entry is read, in either tier, so that it needs
// no walk through them and reaches what Redis still holds. The zero value marks
// nothing.
type Mark struct {
	// Soft makes entries born before it stale: the next caller refreshes them,
	// and they still stand in when that fails.
	Soft time.Time `json:"soft,omitzero"`
	// Hard makes entries born before it unusable.
	Hard time.Time `json:"hard,omitzero"`
}

// Everywhere names the mark of all endpoints.
const Everywhere = "*"

// apply turns what the policy says of an entry into what is left of it.
func (m *Mark) apply(meta *Meta, p *Policy, now time.Time, state State, left time.Duration) (State, time.Duration) {
	if m == nil {
		return state, left
	}
	switch born := meta.oldest(); {
	case !born.After(m.Hard):
		return Gone, min(left, m.Hard.Sub(now))
	case born.After(m.Soft) || state >= Grace:
		return state, left
	case meta.Negative:
		return Gone, min(left, m.Soft.Sub(now))
	case p.Grace > 0:
		return Grace, min(left, m.Soft.Sub(now))
	}
	return Stale, min(left, m.Soft.Sub(now))
}

// marks are the purges in force, by endpoint. The zero value is ready.
type marks struct {
	mu sync.Mutex
	of map[string]*atomic.Pointer[Mark]
	// all is the latest mark of each kind that is for every endpoint.
	all Mark
	set map[string]Mark
}

// slot is where an endpoint's spaces look for their mark.
func (m *marks) slot(name string) *atomic.Pointer[Mark] {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil {
		m.of = map[string]*atomic.Pointer[Mark]{}
	}
	p, ok := m.of[name]
	if !ok {
		p = &atomic.Pointer[Mark]{}
		m.of[name] = p
		m.store(name, p)
	}
	return p
}

func (m *marks) store(name string, p *atomic.Pointer[Mark]) {
	own := m.set[name]
	merged := Mark{Soft: later(own.Soft, m.all.Soft), Hard: later(own.Hard, m.all.Hard)}
	if merged == (Mark{}) {
		p.Store(nil)
		return
	}
	p.Store(&merged)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Purge puts these marks, by endpoint or for Everywhere, in the place of all
// before. Marks are of the past: entries that come later are not touched.
func (c *Cache) Purge(byEndpoint map[string]Mark) {
	m := &c.marks
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all, m.set = byEndpoint[Everywhere], byEndpoint
	for name, p := range m.of {
		m.store(name, p)
	}
}
