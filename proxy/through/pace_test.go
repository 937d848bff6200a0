package through

import (
	"testing"
	"time"
)

// TestPace: a client may wait for idle once, and for a second for each rate bytes besides.
func TestPace(t *testing.T) {
	t.Parallel()
	p := pace{idle: 10 * time.Second, rate: 1000}
	for i, step := range []struct {
		took time.Duration
		n    int
		left time.Duration
	}{
		{0, 0, 10 * time.Second},
		{4 * time.Second, 0, 6 * time.Second},
		{time.Second, 999, 5 * time.Second},
		{time.Second, 1, 5 * time.Second},
		{0, 100_000, 10 * time.Second}, // never longer at a time
		{104 * time.Second, 0, time.Second},
		{2 * time.Second, 0, -time.Second},
	} {
		if p.note(step.took, step.n); p.left() != step.left {
			t.Errorf("after step %d, %s are left, not %s", i, p.left(), step.left)
		}
	}
}
