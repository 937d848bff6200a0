package proxy

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// One exemplar for each bucket and second.
func TestExemplarsAreFew(t *testing.T) {
	e := newExemplars(prometheus.NewHistogram(prometheus.HistogramOpts{}).(prometheus.ExemplarObserver))
	second := time.Unix(1790000000, 0)
	for i, c := range []struct {
		took time.Duration
		now  time.Time
		want bool
	}{
		{30 * time.Millisecond, second, true},
		{40 * time.Millisecond, second.Add(900 * time.Millisecond), false},
		{50 * time.Millisecond, second, false}, // a bound belongs to its bucket
		{51 * time.Millisecond, second, true},
		{time.Hour, second, true},
		{11 * time.Second, second, false},
		{30 * time.Millisecond, second.Add(time.Second), true},
		{0, second, true},
	} {
		if got := e.due(c.took, c.now); got != c.want {
			t.Errorf("%d: %v at %v: %v", i, c.took, c.now, got)
		}
	}
}
