package advise_test

import (
	"fmt"
	"math"
	"slices"
)

// Tally counts verdicts.
type Tally struct {
	All, Old, Seer            int
	Calls, Bands              int
	Advised, Within, Strictly int
	Reached, Missed           int // no TTL is advised though one keeps the target
	shares                    []float64
}

// Add counts one.
func (t *Tally) Add(v *Verdict) {
	t.All++
	count := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	count(&t.Old, v.Old)
	count(&t.Seer, v.Seer)
	count(&t.Calls, v.Calls)
	count(&t.Bands, v.Bands)
	count(&t.Advised, v.Advised > 0)
	count(&t.Within, v.Within)
	count(&t.Strictly, v.Strictly)
	count(&t.Reached, v.Reached)
	count(&t.Missed, v.Reached && v.Advised == 0)
	if v.Reached && v.Advised > 0 {
		t.shares = append(t.shares, v.Advised.Seconds()/v.Best.Seconds())
	}
}

// Join adds those of another.
func (t *Tally) Join(o *Tally) {
	t.All, t.Old, t.Seer, t.Calls, t.Bands = t.All+o.All, t.Old+o.Old, t.Seer+o.Seer, t.Calls+o.Calls, t.Bands+o.Bands
	t.Advised, t.Within, t.Strictly = t.Advised+o.Advised, t.Within+o.Within, t.Strictly+o.Strictly
	t.Reached, t.Missed = t.Reached+o.Reached, t.Missed+o.Missed
	t.shares = append(t.shares, o.shares...)
}

// String is a row of a table: how many are right, for old share, seer, calls and bands; of
// the advised TTLs, how many keep the target, with what chance adds and without; how many
// worlds have no advice though some TTL keeps the target; and, in the median, the advised TTL
// as a share of the longest one of the ladder that keeps it.
func (t *Tally) String() string {
	median := math.NaN()
	if n := len(t.shares); n > 0 {
		median = slices.Sorted(slices.Values(t.shares))[n/2]
	}
	return fmt.Sprintf("%4d %5d %5d %5d of %d; advised TTL within the target %d of %d, %d without chance; none of %d; %.2f of the longest",
		t.Old, t.Seer, t.Calls, t.Bands, t.All, t.Within, t.Advised, t.Strictly, t.Missed, median)
}

// LoopTally counts closed loops.
type LoopTally struct{ Reached, Within, Wrong int }

// Add counts one.
func (t *LoopTally) Add(l *Loop) {
	t.Wrong += len(l.Wrong)
	if l.Reached {
		if t.Reached++; l.Within {
			t.Within++
		}
	}
}

func (t *LoopTally) String() string {
	return fmt.Sprintf("within one and a half times the target: %d of %d; steps up while over twice the target: %d", t.Within, t.Reached, t.Wrong)
}
