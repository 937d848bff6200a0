package host

import (
	"slices"
	"sync"
	"time"
)

// Caller says on whose behalf a call is made, as hashes: breakers weigh it, so
// that no single client, and no single key of callers' making, shuts a host for
// all. 0 means unknown, and is not weighed.
type Caller struct {
	Key    uint64 // of the answer that is wanted; 0 where callers cannot choose it
	Client uint64
}

// Bounds of one caller's weight among failures in a row.
const (
	// clientWeight is how many of them one client gives.
	clientWeight = 3
	// keyPause is how long the failures of one key count once.
	keyPause = time.Second
	// alone is how many times as many open the breaker where they are one
	// client's: nobody else got an answer in between.
	alone = 4
	// rowMax bounds what is remembered.
	rowMax = 256
)

// row are the failures of a host since its last success. Unlike the breaker's
// own count it has no window, and so sees enough of slow ones.
type row struct {
	mu     sync.Mutex
	fails  []failed
	weight int // of those that count in full
}

type failed struct {
	caller Caller
	at     time.Time
}

// add takes in a failure, and tells whether it counts in full.
func (r *row) add(c Caller, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Key != 0 && r.again(c, now) {
		return false
	}
	full := c.Key == 0 || c.Client == 0 || r.ofClient(c) < clientWeight
	if full {
		r.weight++
	}
	if len(r.fails) < rowMax {
		r.fails = append(r.fails, failed{c, now})
	}
	return full
}

// again tells a key that failed a moment ago.
func (r *row) again(c Caller, now time.Time) bool {
	return slices.ContainsFunc(r.fails, func(f failed) bool { return f.caller.Key == c.Key && now.Sub(f.at) < keyPause })
}

// ofClient counts the failures that a client gave.
func (r *row) ofClient(c Caller) int {
	n := 0
	for _, f := range r.fails {
		if f.caller.Client == c.Client {
			n++
		}
	}
	return n
}

// clear forgets them: the host answered.
func (r *row) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails, r.weight = r.fails[:0], 0
}

// reaches tells whether there are as many as open a breaker.
func (r *row) reaches(limit uint32) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.weight >= int(limit) || len(r.fails) >= alone*int(limit)
}
