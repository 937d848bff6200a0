package upstreams

import (
	"slices"
	"sync"
	"time"
)

const (
	// latencyWindow is how many attempts of a source are remembered, latencyLeast how
	// many there must be before they say anything.
	latencyWindow, latencyLeast = 128, 32
	// latencyShare of the attempts are expected to take no longer than what is slow.
	latencyShare = 0.95
	// latencyFloor is the shortest that counts as slow: below it, a second call gains
	// nothing that anybody would notice.
	latencyFloor = 100 * time.Millisecond
)

// Hedges are bounded by a budget: a call earns hedgeEarns, a hedge costs hedgeCosts, and
// no more than hedgeMost is saved. So they are a tenth of the calls, or three at once.
const hedgeEarns, hedgeCosts, hedgeMost = 1, 10, 30

// Latencies are how long the attempts of sources took that may be hedged. They outlive
// a reload. The zero value is empty and ready to use.
type Latencies struct {
	mu       sync.Mutex
	bySource map[sourceID]*latency
}

// of returns that of a source, new when there is none yet.
func (l *Latencies) of(endpoint, source string) *latency {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := sourceID{endpoint, source}
	if one := l.bySource[id]; one != nil {
		return one
	}
	if l.bySource == nil {
		l.bySource = map[sourceID]*latency{}
	}
	one := &latency{}
	l.bySource[id] = one
	return one
}

// latency is how long the last attempts of a source took, and its budget of hedges. It
// is safe for concurrent use.
type latency struct {
	mu     sync.Mutex
	took   [latencyWindow]time.Duration // a ring
	n      int                          // that were observed so far
	budget int
}

// observe takes note of an attempt that was answered, or of one that was given up after
// that long: it would have taken longer.
func (l *latency) observe(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took[l.n%latencyWindow] = took
	l.n++
}

// slow is how long an attempt takes that is slow; false: too few were observed.
func (l *latency) slow() (time.Duration, bool) {
	l.mu.Lock()
	known := min(l.n, latencyWindow)
	took := l.took
	l.mu.Unlock()
	if known < latencyLeast {
		return 0, false
	}
	slices.Sort(took[:known])
	return max(latencyFloor, took[int(latencyShare*float64(known-1))]), true
}

// earn adds to the budget what a call earns.
func (l *latency) earn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.budget = min(hedgeMost, l.budget+hedgeEarns)
}

// spend takes a hedge from the budget; false: it is used up.
func (l *latency) spend() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.budget < hedgeCosts {
		return false
	}
	l.budget -= hedgeCosts
	return true
}

// refund gives a hedge back that was not made.
func (l *latency) refund() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.budget = min(hedgeMost, l.budget+hedgeCosts)
}
