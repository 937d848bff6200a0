package proxy

import (
	runtimemetrics "runtime/metrics"
	"time"
)

// How pressure is felt and answered.
const (
	// pressureEvery is the least time between two looks.
	pressureEvery = 50 * time.Millisecond
	// pressureAfter is how long the delay must be too long without a break: a
	// burst, a start or a collection is no overload.
	pressureAfter = 500 * time.Millisecond
	// pressureRise and pressureFall change the share with each look.
	pressureRise = 0.05
	pressureFall = 0.1
	// pressureMost lets a few through, so that it is seen when it is over.
	pressureMost = 0.95
	// pressureQuantile of the waits is the delay: most of a request's steps are
	// handed on without any, and only the one at which it joins the others waits.
	pressureQuantile = 0.95
)

// pressure sheds by the time that work which could go on waits for a processor
// (as CoDel does by the time in a queue): where that is the load, what waits is in
// the scheduler, hits too, and no count of requests tells. While the delay stays
// above the target, a rising share of those who must wait is shed, until hits do
// not wait any more. The zero value sheds nobody.
type pressure struct {
	target time.Duration // 0: off
	since  time.Time     // of when it is exceeded without a break; zero: it is not
	share  float64       // that is shed
}

// feel takes the delay between two looks.
func (p *pressure) feel(delay time.Duration, from, now time.Time) {
	if p.target == 0 || delay <= p.target {
		p.since, p.share = time.Time{}, max(0, p.share-pressureFall)
		return
	}
	if p.since.IsZero() {
		p.since = from
	}
	if now.Sub(p.since) >= pressureAfter {
		p.share = min(pressureMost, p.share+pressureRise)
	}
}

// delays reads how long goroutines that were ready waited until they ran, out of
// what the runtime counts of some of them all the time.
type delays struct {
	sample [1]runtimemetrics.Sample
	before []uint64
}

// read is the quantile of the waits since it was read before; 0 where there are
// none.
func (d *delays) read() time.Duration {
	d.sample[0].Name = "/sched/latencies:seconds"
	runtimemetrics.Read(d.sample[:])
	if d.sample[0].Value.Kind() != runtimemetrics.KindFloat64Histogram {
		return 0
	}
	h := d.sample[0].Value.Float64Histogram()
	if len(d.before) != len(h.Counts) {
		d.before = make([]uint64, len(h.Counts))
	}
	delay := quantileSince(d.before, h)
	copy(d.before, h.Counts)
	return delay
}

// quantileSince is the lower bound of the bucket in which the quantile lies of
// what was counted since before.
func quantileSince(before []uint64, h *runtimemetrics.Float64Histogram) time.Duration {
	var all, seen uint64
	for i, n := range h.Counts {
		all += n - before[i]
	}
	for i, n := range h.Counts {
		if seen += n - before[i]; seen > 0 && float64(seen) >= pressureQuantile*float64(all) {
			return time.Duration(max(0, h.Buckets[i]) * float64(time.Second))
		}
	}
	return 0
}
