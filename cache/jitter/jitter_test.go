package jitter

import (
	"testing"
	"time"
)

// Durations stay within their share, and use both halves of it.
func TestShares(t *testing.T) {
	for name, row := range map[string]struct {
		spread    func(time.Duration, float64) time.Duration
		low, high time.Duration
	}{
		"around": {Around, 800 * time.Millisecond, 1200 * time.Millisecond},
		"below":  {Below, 800 * time.Millisecond, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			middle, short, long := (row.low+row.high)/2, 0, 0
			for range 1000 {
				d := row.spread(time.Second, 0.2)
				if d < row.low || d > row.high {
					t.Fatalf("%v is not within %v and %v", d, row.low, row.high)
				}
				if d < middle {
					short++
				} else {
					long++
				}
			}
			if short == 0 || long == 0 {
				t.Errorf("%d below the middle, %d above", short, long)
			}
		})
	}
	if d := Around(0, 0.2) + Below(0, 0.2); d != 0 {
		t.Errorf("nothing became %v", d)
	}
}
