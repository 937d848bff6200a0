package proxy

import (
	"errors"
	"math/rand/v2"
	runtimemetrics "runtime/metrics"
	"sync"
	"time"

	"sundry/cache"
)

// errShed means that there was no place to wait for an answer.
var errShed = errors.New("too many requests are waiting")

// lookup answers out of the near tier, or waits where there is a place to wait in.
// Where there is none, a stale copy that may stand in for a refresh does.
func (s *Server) lookup(req *request, space *cache.Space, key string, want cache.Want, load cache.Loader) (cache.Hit, error) {
	ctx := waitContext{req}
	hit, ready := space.Peek(ctx, key, want, load)
	if ready {
		return hit, nil
	}
	if !s.admission.enter(req.route.load, req.start) {
		if stale, ok := space.Fallback(key, &hit, errShed); ok {
			return stale, nil
		}
		return cache.Hit{}, errShed
	}
	defer s.admission.leave(req.route.load)
	return space.Await(ctx, key, want, load, &hit)
}

// admission counts the requests that wait for an answer, and lets no more wait
// than the limit. Of the places that are free, an endpoint may hold as many as
// its share allows (with a half: no more than are free): one alone gets just its
// share, several get less each, and there is always room for another.
type admission struct {
	mu      sync.Mutex
	limit   int64
	ratio   float64 // of an endpoint's places to free ones
	waiting int64

	pressure pressure
	delays   delays
	delay    func() time.Duration // reads them; tests have their own
	readAt   time.Time
}

// endpointLoad counts the requests of an endpoint among them; admission guards it. It
// is the same before and after a reload.
type endpointLoad struct{ waiting int64 }

// use takes over limits, whose zero values are filled in.
func (a *admission) use(l Limits) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.limit, a.ratio = l.InFlight, l.Share/(1-l.Share) // of all: infinite
	a.pressure.target = l.Delay
	if a.delay == nil {
		a.delay = a.delays.read
	}
}

// underPressure tells whether a request that comes at now is shed by the time that
// others wait. It looks at that when it is due: without requests that must wait,
// there is nothing to shed. The caller holds mu.
func (a *admission) underPressure(now time.Time) bool {
	if a.pressure.target == 0 {
		return false
	}
	if now.Sub(a.readAt) >= pressureEvery {
		a.pressure.observe(a.delay(), a.readAt, now)
		a.readAt = now
	}
	return a.pressure.share > 0 && rand.Float64() < a.pressure.share
}

// enter takes a place for a request of the endpoint; false: it is to be shed.
func (a *admission) enter(of *endpointLoad, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.underPressure(now) {
		return false
	}
	free := a.limit - a.waiting
	if free <= 0 || float64(of.waiting) >= a.ratio*float64(free) {
		return false
	}
	a.waiting++
	of.waiting++
	return true
}

func (a *admission) leave(of *endpointLoad) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting--
	of.waiting--
}

// shed is the share that is shed by the time that others wait.
func (a *admission) shed() float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pressure.share
}

// count tells how many wait, and how many may.
func (a *admission) count() (waiting, limit int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.waiting, a.limit
}

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

// observe takes the delay between two looks.
func (p *pressure) observe(delay time.Duration, from, now time.Time) {
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
