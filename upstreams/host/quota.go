package host

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"sync"
	"time"
)

// Bound allows so many calls within any length of time Per. It is an alias, so that
// packages which do not know this one can share quotas.
type Bound = struct {
	Calls int
	Per   time.Duration
}

// FleetQuotas are where the instances of a fleet take from quotas together.
type FleetQuotas interface {
	// TakeQuota counts a call of the quota of that name, if that keeps within all
	// bounds; else it returns how long until it would. The last bound has the most calls
	// and the longest time: made is how many calls there are within that one, with
	// this one.
	TakeQuota(ctx context.Context, name string, bounds []Bound) (wait time.Duration, made int, err error)
}

// ThrottledError says that a quota is used up.
type ThrottledError struct {
	Quota string
	// Wait is how long it takes until a call may be made, if nobody makes one before.
	Wait time.Duration
}

// Error implements error.
func (e *ThrottledError) Error() string {
	return fmt.Sprintf("quota %s is used up for another %s", e.Quota, e.Wait.Round(time.Second))
}

// purpose is what a call is made for.
type purpose uint8

const (
	toAnswer  purpose = iota // a caller waits who has no copy
	toRefresh                // a copy can be served
	purposes
)

const (
	// quotaReserve is the share of a quota that refreshes leave to callers without a
	// copy.
	quotaReserve = 0.25
	// quotaWindow is how many calls there are at least in the window of which this is
	// a share: that of a quota of one call a second is of eight seconds.
	quotaWindow = 8
)

// Quota bounds how many calls are made in a length of time. A call is an attempt of a
// source, however many requests that makes: those of its steps, redirects, and one that is
// sent again because its kept connection ended before a reply began, are not counted. Of
// calls it is exact: within any window of that length there are no more, and refreshes do
// not take its reserve. A quota that is shared bounds the calls of all instances, by when
// they were granted: one that took long may be made up to half its rate's time later. While
// the others cannot be asked, it bounds those of this one. It is safe for concurrent use.
type Quota struct {
	name   string
	fleet  FleetQuotas // nil: it is of this instance alone
	rate   Bound       // as declared
	window Bound       // the same, of at least quotaWindow calls
	bounds [purposes][]Bound

	mu     sync.Mutex
	made   []time.Time         // a ring of the last calls, those of a window; zero: fewer were made
	next   int                 // the oldest of them
	closed [purposes]time.Time // until then, calls of other instances use it up
	// fleetMade is how many calls all instances had made in the window that ended
	// at fleetAt.
	fleetMade int
	fleetAt   time.Time
}

func newQuota(key quotaKey, fleet FleetQuotas) *Quota {
	rate := Bound{key.calls, key.per}
	times := (quotaWindow + rate.Calls - 1) / rate.Calls
	window := Bound{times * rate.Calls, time.Duration(times) * rate.Per}
	return &Quota{
		name: fmt.Sprintf("%s %d/%s", key.of, key.calls, key.per), fleet: fleet, rate: rate, window: window,
		bounds: [purposes][]Bound{
			toAnswer:  {rate, window},
			toRefresh: {rate, {window.Calls - int(quotaReserve*float64(window.Calls)), window.Per}, window},
		},
		made: make([]time.Time, window.Calls),
	}
}

// Name is that of its host, or of its source if that has none, with its rate.
func (q *Quota) Name() string { return q.name }

// Take reports whether one more call may be made now, and counts it. The others are
// asked only where this instance's own calls leave room.
func (q *Quota) Take(ctx context.Context, now time.Time) bool { return q.take(ctx, toAnswer, now) }

// TakeToRefresh is Take for a call without which a copy can be served: it leaves the
// reserve to others.
func (q *Quota) TakeToRefresh(ctx context.Context, now time.Time) bool {
	return q.take(ctx, toRefresh, now)
}

// take asks the others where this instance's own calls leave room. A call counts when it is
// made: the reply may take a while, in which others take from what this instance may call
// if it is alone. A grant that comes late is not used, because the others count its call
// from when it was granted. It stands in their count for the call that was made in its
// place, or is lost.
func (q *Quota) take(ctx context.Context, p purpose, now time.Time) bool {
	if q.fleet == nil {
		return q.takeHere(p, now)
	}
	if q.wait(p, now) > 0 {
		return false
	}
	asked := time.Now()
	wait, made, err := q.fleet.TakeQuota(ctx, q.name, q.bounds[p])
	took := time.Since(asked)
	replied := now.Add(took)
	if err != nil {
		return q.takeHere(p, replied)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.fleetMade, q.fleetAt = made, replied
	if wait > 0 {
		q.closed[p] = now.Add(wait)
		return false
	}
	if took > q.rate.Per/2 || q.waitHere(p, replied) > 0 {
		return false
	}
	q.count(replied)
	return true
}

// takeHere takes from what this instance may call if it is alone.
func (q *Quota) takeHere(p purpose, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waitHere(p, now) > 0 {
		return false
	}
	q.count(now)
	return true
}

// count counts a call. The lock is held.
func (q *Quota) count(now time.Time) {
	q.made[q.next] = now
	q.next = (q.next + 1) % len(q.made)
}

// Wait is how long it takes until a call may be made, if nobody makes one before.
func (q *Quota) Wait(now time.Time) time.Duration { return q.wait(toAnswer, now) }

func (q *Quota) wait(p purpose, now time.Time) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return max(0, q.closedFor(p, now), q.waitHere(p, now))
}

// closedFor is how long calls of other instances use it up; it may be negative. What
// closes it for answers closes it for refreshes. The lock is held.
func (q *Quota) closedFor(p purpose, now time.Time) time.Duration {
	return max(q.closed[toAnswer].Sub(now), q.closed[p].Sub(now))
}

// waitHere is how long it takes until the calls of this instance leave room for one
// more. The lock is held.
func (q *Quota) waitHere(p purpose, now time.Time) (wait time.Duration) {
	for _, b := range q.bounds[p] {
		if at := q.last(b.Calls); !at.IsZero() {
			wait = max(wait, b.Per-now.Sub(at))
		}
	}
	return wait
}

// last is when the n-th call from the end was made; zero: there were fewer. The lock is
// held.
func (q *Quota) last(n int) time.Time { return q.made[(q.next-n+len(q.made))%len(q.made)] }

// Left is the share, 0 to 1, of the calls that may still be made.
func (q *Quota) Left(now time.Time) float64 { return q.left(toAnswer, q.window.Calls, now) }

// LeftToRefresh is the share, 0 to 1, that is left of what refreshes may take: 0 when
// nothing is left but the reserve.
func (q *Quota) LeftToRefresh(now time.Time) float64 {
	return q.left(toRefresh, q.bounds[toRefresh][1].Calls, now)
}

func (q *Quota) left(p purpose, of int, now time.Time) float64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closedFor(p, now) > 0 {
		return 0
	}
	return max(0, 1-q.used(now)/float64(of))
}

// used is how many calls are in the window that ends now. It asks nobody: the calls of
// which the last reply told are taken for spread evenly. The lock is held.
func (q *Quota) used(now time.Time) float64 {
	own := sort.Search(len(q.made), func(i int) bool {
		at := q.last(i + 1)
		return at.IsZero() || now.Sub(at) >= q.window.Per
	})
	remain := 1 - float64(now.Sub(q.fleetAt))/float64(q.window.Per)
	return max(float64(own), float64(q.fleetMade)*remain)
}

// Quotas are those of all sources that declare a rate. They outlive a reload. The
// zero value is empty and ready to use.
type Quotas struct {
	// Fleet is where they are shared; nil: they are of this instance alone. It is set
	// before the first Get.
	Fleet  FleetQuotas
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
	q := newQuota(key, qs.Fleet)
	qs.quotas[key] = q
	return q
}

// All lists them, in no order.
func (qs *Quotas) All() []*Quota {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	return slices.Collect(maps.Values(qs.quotas))
}
