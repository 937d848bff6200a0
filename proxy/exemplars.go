package proxy

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// exemplars are request ids beside the durations. A scrape reads the last one of each
// bucket, so that more than one a second would be work for nothing.
type exemplars struct {
	duration prometheus.ExemplarObserver
	buckets  []float64
	last     []atomic.Int64 // by bucket: the second of the last one
}

func newExemplars(duration prometheus.ExemplarObserver) exemplars {
	buckets := durationBuckets()
	return exemplars{duration, buckets, make([]atomic.Int64, len(buckets)+1)}
}

// due reports whether a duration that was measured at now is to have an exemplar.
func (e *exemplars) due(took time.Duration, now time.Time) bool {
	bucket, _ := slices.BinarySearch(e.buckets, took.Seconds())
	last, second := e.last[bucket].Load(), now.Unix()
	return last != second && e.last[bucket].CompareAndSwap(last, second)
}
