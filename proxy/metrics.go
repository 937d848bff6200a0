package proxy

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"sundry/metrics"
	"sundry/upstreams/catalog"
)

// serverMetrics are the metrics of the server.
type serverMetrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	added    *prometheus.HistogramVec
	limited  prometheus.Counter
	shed     prometheus.Counter
}

// unrouted is the endpoint label of requests for unknown endpoints: what they ask
// for would be an unbounded label.
const unrouted = "none"

func newMetrics(reg prometheus.Registerer, s *Server) *serverMetrics {
	const namespace = metrics.Namespace
	register := promauto.With(reg)
	m := &serverMetrics{
		requests: register.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: "requests_total",
			Help: "Requests answered, by outcome and status class."}, []string{"endpoint", "outcome", "class"}),
		duration: register.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: "request_duration_seconds",
			Help: "Time from a request's arrival until its answer is written; of an API, the head of its answer.",
			// Classic buckets only: with a native histogram as well, an observation
			// costs three times as much, and every hit makes two observations (its age
			// is the other).
			Buckets: durationBuckets()}, []string{"endpoint"}),
		added: register.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: "request_added_seconds",
			Help:    "Time that requests for which sources or an API were called took beyond these calls.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5}}, []string{"endpoint"}),
		limited: register.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: "rate_limited_total",
			Help: "Requests refused because their client exceeded its rate limit."}),
		shed: register.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: "shed_total",
			Help: "Requests refused because of overload: too many requests waiting, or too many of one kind in progress."}),
	}
	gauge := func(name, help string, read func() float64) {
		register.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, read)
	}
	gauge("requests_in_flight", "Requests that wait for an answer. Answers from the near tier are not counted.",
		func() float64 { waiting, _ := s.admission.count(); return float64(waiting) })
	gauge("requests_in_flight_limit", "Requests that may wait for an answer at the same time before more are shed.",
		func() float64 { _, limit := s.admission.count(); return float64(limit) })
	gauge("shed_share", "Share that is shed, because of the queue delay, of the requests that would have to wait for an answer.",
		s.admission.shedShare)
	gauge("rate_limit_clients", "Clients whose burst is not fully restored; 0 without a rate limit.",
		func() float64 { return float64(s.current.Load().settings.limiter.Clients(time.Now())) })
	if reg != nil {
		reg.MustRegister(newEndpointCollector(s))
	}
	return m
}

// endpointMetrics holds the resolved series of an endpoint, so that counting a hit
// needs no lookup by label.
type endpointMetrics struct {
	requests [outcomes][6]prometheus.Counter
	duration prometheus.Histogram
	added    func() prometheus.Observer // it is made when the first source was called
}

// durationBuckets are the upper bounds of the durations' buckets, in seconds.
func durationBuckets() []float64 {
	return []float64{.0001, .0005, .001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10}
}

func (m *serverMetrics) endpoint(name string) *endpointMetrics {
	e := &endpointMetrics{
		duration: m.duration.WithLabelValues(name).(prometheus.Histogram), //nolint:forcetypeassert // those of a vector are
		added:    sync.OnceValue(func() prometheus.Observer { return m.added.WithLabelValues(name) }),
	}
	for o := range outcomes {
		for _, c := range o.classes() {
			e.requests[o][c] = m.requests.WithLabelValues(name, o.String(), string(rune('0'+c))+"xx")
		}
	}
	return e
}

// api resolves the series of an API that is served as it is, whose answers may have any status.
func (m *serverMetrics) api(name string) *endpointMetrics {
	e := m.endpoint(name)
	for _, o := range []outcome{outcomeHit, outcomeStale, outcomeStaleError, outcomeMiss, outcomeCoalesced, outcomeBypass} {
		for c := 1; c <= 5; c++ { // 1: it is another protocol now
			e.requests[o][c] = m.requests.WithLabelValues(name, o.String(), string(rune('0'+c))+"xx")
		}
	}
	return e
}

// observe counts a request. Its id is short enough for an exemplar.
func (e *endpointMetrics) observe(req *request, took time.Duration) {
	e.count(req.outcome, req.status)
	if called := time.Duration(req.called.Load()); called > 0 && called < took {
		e.added().Observe((took - called).Seconds())
	}
	if exemplars, ok := e.duration.(prometheus.ExemplarObserver); ok && req.outcome.hasExemplar() {
		exemplars.ObserveWithExemplar(took.Seconds(), prometheus.Labels{"request_id": req.id.String()})
		return
	}
	e.duration.Observe(took.Seconds())
}

// observeHit counts a request that needs no exemplar.
func (e *endpointMetrics) observeHit(o outcome, status int, took time.Duration) {
	e.count(o, status)
	e.duration.Observe(took.Seconds())
}

func (e *endpointMetrics) count(o outcome, status int) {
	if c := e.requests[o][min(status/100, 5)]; c != nil {
		c.Inc()
	}
}

// endpointCollector reads at scrape time the cache policy of each endpoint, which an
// operator may change at any time, and how late its edition is. Endpoints that a
// reload removed disappear.
type endpointCollector struct {
	server                  *Server
	ttl, staleIfError, late *prometheus.Desc
}

func newEndpointCollector(s *Server) *endpointCollector {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(metrics.Namespace+"_endpoint_"+name, help, []string{"endpoint"}, nil)
	}
	return &endpointCollector{
		server:       s,
		ttl:          desc("ttl_seconds", "How long answers are fresh under the current cache policy; 0: not cached, or until the next publication."),
		staleIfError: desc("stale_if_error_seconds", "How long a stale answer may be served when a refresh fails."),
		late: desc("edition_late_seconds",
			"How long ago a publication was due that the cached answer does not contain; 0: it contains the newest, or nothing is cached."),
	}
}

// Describe implements prometheus.Collector.
func (c *endpointCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.ttl
	ch <- c.staleIfError
	ch <- c.late
}

// Collect implements prometheus.Collector.
func (c *endpointCollector) Collect(ch chan<- prometheus.Metric) {
	now := time.Now()
	for name, rt := range c.server.current.Load().routes {
		policy := rt.space.Policy()
		gauge := func(desc *prometheus.Desc, v time.Duration) {
			ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, v.Seconds(), name)
		}
		gauge(c.ttl, policy.TTL)
		gauge(c.staleIfError, max(policy.Grace, policy.StaleIfError))
		gauge(c.late, rt.late(now))
	}
}

// late returns how late the edition is in the answer to a request without
// parameters, which asks for the newest.
func (rt *route) late(now time.Time) time.Duration {
	if rt.space.Policy().Until == nil {
		return 0
	}
	in, bad := rt.endpoint.Parse("", catalog.Caller{})
	if bad != nil {
		return 0
	}
	return rt.space.EditionLate(in.Key(), now)
}
