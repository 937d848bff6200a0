package jitter

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
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

// A pause takes its time, unless its context ends.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := Pause(t.Context(), time.Second, 0); err != nil || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		if err := Pause(ctx, time.Hour, 0.5); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}
