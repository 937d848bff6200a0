package proxy

import (
	"errors"
	"math/rand/v2"
	runtimemetrics "runtime/metrics"
	"sync"
	"time"

	"sundry/cache"
	"sundry/cache/clients"
)

// errShed means that a request was shed because it would have had to wait.
var errShed = errors.New("too many requests are waiting")

// get answers one key from the hot table where nothing else is to be done, else from the
// near tier, or by a fill. With an error, there is no answer.
func (s *Server) get(req *request, space *cache.Space, key string, want cache.Want, load cache.Loader, answer *cache.Answer) (err error) {
	if req.near = space.GetHot(key, want, req.start, answer); req.near {
		space.Served(key, answer)
		return nil
	}
	req.lent = true
	*answer, err = s.getNearOrAwait(req, space, key, want, load)
	return err
}

// getNearOrAwait answers from the near tier without admission. A request that is not
// answered there has to be admitted to wait for a fill; one that is shed gets the stale
// copy where one may be served as fallback.
func (s *Server) getNearOrAwait(req *request, space *cache.Space, key string, want cache.Want, load cache.Loader) (cache.Answer, error) {
	ctx := waitContext{req}
	var answer cache.Answer
	if req.near = space.GetNear(ctx, key, want, load, &answer); req.near {
		return answer, nil
	}
	client := req.clientID()
	if !s.admission.enter(req.route.load, client, req.start) {
		if stale, ok := space.Fallback(key, want, &answer, errShed); ok {
			return stale, nil
		}
		return cache.Answer{}, errShed
	}
	defer s.admission.leave(req.route.load, client)
	return space.Await(ctx, key, want, load, &answer)
}

// admission bounds how many requests wait for an answer, in all, per endpoint and per client.
// An endpoint may have waiting at most share/(1-share) times as many requests as
// there are free places (with a share of a half: as many as are free). So one
// endpoint alone can take its share of the limit, the next one that share of what is
// left, and so on: a flood of requests to one endpoint leaves room for all others.
type admission struct {
	mu      sync.Mutex
	ratio   float64 // of an endpoint's waiting requests to free places
	waiting clients.Limit

	pressure pressure
	latency  schedLatencies
	delay    func() time.Duration // latency.read; replaced by tests
	readAt   time.Time
}

// endpointLoad counts the waiting requests of an endpoint; admission's mutex
// protects it. A reload keeps it.
type endpointLoad struct{ waiting int64 }

// setLimits takes limits whose zero values are already replaced by the defaults.
func (a *admission) setLimits(l Limits) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting.SetTotal(l.InFlight)
	a.ratio = l.Share / (1 - l.Share) // a share of 1: infinite
	a.pressure.target = l.QueueDelay
	if a.delay == nil {
		a.delay = a.latency.read
	}
}

// underPressure reports whether a request that arrives at now is shed because of
// the queue delay. It measures on demand, at most once per pressureInterval:
// without requests that have to wait there is nothing to shed. The caller holds mu.
func (a *admission) underPressure(now time.Time) bool {
	if a.pressure.target == 0 {
		return false
	}
	if now.Sub(a.readAt) >= pressureInterval {
		from := a.readAt
		if earliest := now.Add(-pressureInterval); from.Before(earliest) {
			from = earliest // long ago: a delay now says nothing of all the time since
		}
		a.pressure.observe(a.delay(), from, now)
		a.readAt = now
	}
	return a.pressure.share > 0 && rand.Float64() < a.pressure.share
}

// enter admits a request of the endpoint from a client, for which leave has to be called, or
// returns false: it has to be shed.
func (a *admission) enter(of *endpointLoad, client clients.ID, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.underPressure(now) {
		return false
	}
	free := a.waiting.Total() - a.waiting.Used()
	if float64(of.waiting) >= a.ratio*float64(free) || !a.waiting.Take(client, 1) {
		return false
	}
	of.waiting++
	return true
}

func (a *admission) leave(of *endpointLoad, client clients.ID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting.Give(client, 1)
	of.waiting--
}

// shedShare returns the share of requests that is shed because of the queue delay.
func (a *admission) shedShare() float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pressure.share
}

// count returns how many requests wait and how many may.
func (a *admission) count() (waiting, limit int64) { return a.waiting.Used(), a.waiting.Total() }

// Parameters of pressure.
const (
	// pressureInterval is the shortest interval between two measurements.
	pressureInterval = 50 * time.Millisecond
	// pressureOnset is how long the delay has to stay above the target before
	// requests are shed: a burst, a start or a garbage collection is no overload.
	pressureOnset = 500 * time.Millisecond
	// pressureRise is added to the shed share at a measurement above the target,
	// pressureFall taken from it at one below.
	pressureRise = 0.05
	pressureFall = 0.1
	// pressureMaxShare is the largest share to shed. The rest is needed to measure
	// when the overload is over.
	pressureMaxShare = 0.95
	// pressureQuantile of the scheduling latencies is the delay. It is high
	// because most goroutines that take part in a request are scheduled at once, and
	// only the few that are queued behind others wait.
	pressureQuantile = 0.95
)

// pressure sheds by queue delay: how long runnable goroutines wait for a
// processor (as CoDel sheds by the time in a queue). Where processors are the
// bottleneck, requests queue in the scheduler, hits among them, and the number of
// requests in flight does not show it. While the delay stays above the target, a
// rising share of the requests that have to wait is shed, until hits are no longer
// delayed. The zero value sheds nothing.
type pressure struct {
	target time.Duration // 0: off
	since  time.Time     // the delay has been above the target since then; zero: it is not
	share  float64       // of requests to shed
}

// observe takes the delay that was measured between from and now.
func (p *pressure) observe(delay time.Duration, from, now time.Time) {
	if p.target == 0 || delay <= p.target {
		p.since, p.share = time.Time{}, max(0, p.share-pressureFall)
		return
	}
	if p.since.IsZero() {
		p.since = from
	}
	if now.Sub(p.since) >= pressureOnset {
		p.share = min(pressureMaxShare, p.share+pressureRise)
	}
}

// schedLatencies reads from the runtime how long goroutines were runnable before
// they ran.
type schedLatencies struct {
	sample [1]runtimemetrics.Sample
	before []uint64
}

// read returns the quantile of the latencies since the last call; 0 without any.
func (l *schedLatencies) read() time.Duration {
	l.sample[0].Name = "/sched/latencies:seconds"
	runtimemetrics.Read(l.sample[:])
	if l.sample[0].Value.Kind() != runtimemetrics.KindFloat64Histogram {
		return 0
	}
	h := l.sample[0].Value.Float64Histogram()
	if len(l.before) != len(h.Counts) {
		l.before = make([]uint64, len(h.Counts))
	}
	delay := quantileSince(l.before, h)
	copy(l.before, h.Counts)
	return delay
}

// quantileSince returns the lower bound of the bucket that holds the quantile of
// what was counted since before.
func quantileSince(before []uint64, h *runtimemetrics.Float64Histogram) time.Duration {
	var all, sum uint64
	for i, n := range h.Counts {
		all += n - before[i]
	}
	for i, n := range h.Counts {
		if sum += n - before[i]; sum > 0 && float64(sum) >= pressureQuantile*float64(all) {
			return time.Duration(max(0, h.Buckets[i]) * float64(time.Second))
		}
	}
	return 0
}
