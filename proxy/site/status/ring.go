package status

import "time"

// cell is what is remembered of a stretch of time.
type cell struct {
	known bool // it was observed, at least in part
	Counts
	took durations // nil: none
}

// ring holds the cells of the last stretches of equal width. The stretches begin at
// multiples of the width, so that all rings of a width agree about them.
type ring struct {
	width  time.Duration
	cells  []cell
	newest int64 // the number of the newest stretch
}

func newRing(width time.Duration, cells int) ring {
	return ring{width: width, cells: make([]cell, cells)}
}

// number counts the stretches up to that with the instant.
func (r *ring) number(at time.Time) int64 { return at.UnixNano() / int64(r.width) }

// start is when a stretch begins.
func (r *ring) start(number int64) time.Time { return time.Unix(0, number*int64(r.width)).UTC() }

// at returns the cell of an instant. It forgets those that are too old beside it, and
// all if the clock was set back so far that none is near it.
func (r *ring) at(t time.Time) *cell {
	n, held := r.number(t), int64(len(r.cells))
	if n <= r.newest-held || n >= r.newest+held {
		clear(r.cells)
		r.newest = n
	}
	for r.newest < n {
		r.newest++
		r.cells[r.newest%held] = cell{}
	}
	return &r.cells[n%held]
}

// last returns the cells up to the one of now, the oldest first, and when the oldest
// begins. Those that are not held are unknown.
func (r *ring) last(now time.Time) ([]cell, time.Time) {
	n, held := r.number(now), int64(len(r.cells))
	out := make([]cell, held)
	for i := range out {
		if k := n - held + 1 + int64(i); k > r.newest-held && k <= r.newest {
			out[i] = r.cells[k%held]
		}
	}
	return out, r.start(n - held + 1)
}
