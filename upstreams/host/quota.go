package host

import (
	"sync"
	"time"
)

// Quota bounds how many calls are made in a length of time. It is exact: within any
// window of that length there are no more. It is safe for concurrent use.
type Quota struct {
	per  time.Duration
	mu   sync.Mutex
	made []time.Time // a ring of the last calls; zero: fewer were made
	next int         // the oldest of them
}

func newQuota(calls int, per time.Duration) *Quota {
	return &Quota{per: per, made: make([]time.Time, calls)}
}

// Take reports whether one more call may be made now, and counts it.
func (q *Quota) Take(now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if oldest := q.made[q.next]; !oldest.IsZero() && now.Sub(oldest) < q.per {
		return false
	}
	q.made[q.next] = now
	q.next = (q.next + 1) % len(q.made)
	return true
}

// Wait is how long it takes until a call may be made, if nobody makes one before.
func (q *Quota) Wait(now time.Time) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if oldest := q.made[q.next]; !oldest.IsZero() {
		return max(0, q.per-now.Sub(oldest))
	}
	return 0
}

// Quotas are those of all sources that declare a rate. They outlive a reload. The
// zero value is empty and ready to use.
type Quotas struct {
	mu     sync.Mutex
	quotas map[quotaKey]*Quota
}

type quotaKey struct {
	of    string
	calls int
	per   time.Duration
}

// Get returns the quota of a host (of a source, where it has no declared host): that
// of a service counts for all sources which declare the same.
func (qs *Quotas) Get(of string, calls int, per time.Duration) *Quota {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	key := quotaKey{of, calls, per}
	if q := qs.quotas[key]; q != nil {
		return q
	}
	if qs.quotas == nil {
		qs.quotas = map[quotaKey]*Quota{}
	}
	q := newQuota(calls, per)
	qs.quotas[key] = q
	return q
}
