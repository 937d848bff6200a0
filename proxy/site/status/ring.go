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

// at returns the cell of an instant. It forgets those that are too old beside it, and
// all if the clock was set back so far that none is near it.
func (r *ring) at(t time.Time) *cell {
	n, held := number(t, r.width), int64(len(r.cells))
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
	n, held := number(now, r.width), int64(len(r.cells))
	out := make([]cell, held)
	for i := range out {
		if k := n - held + 1 + int64(i); k > r.newest-held && k <= r.newest {
			out[i] = r.cells[k%held]
		}
	}
	return out, startOf(n-held+1, r.width)
}
