package proxy

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// outcome is how a request was answered: one word for log and metrics.
type outcome uint8

const (
	outcomeHit outcome = iota
	outcomeStale
	outcomeStaleError
	outcomeMiss
	outcomeCoalesced
	outcomeNegative
	outcomeBypass
	outcomeNotModified
	outcomeInvalid
	outcomeError
	outcomeLimited
	outcomeShed
	outcomeLeft
	outcomes
)

// String is the outcome's label.
func (o outcome) String() string {
	return [...]string{"hit", "stale", "stale_error", "miss", "coalesced", "negative", "bypass", "not_modified",
		"invalid", "error", "limited", "shed", "left", "unknown"}[min(o, outcomes)]
}

// traced tells the outcomes whose request id is kept as the duration's
// exemplar: those that waited for others, or came to nothing. Hits are too many
// to pay for it.
func (o outcome) traced() bool {
	switch o {
	case outcomeMiss, outcomeCoalesced, outcomeBypass, outcomeStaleError, outcomeError:
		return true
	}
	return false
}

// metrics of the front.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	limited  prometheus.Counter
	shed     prometheus.Counter
}

// unrouted is the endpoint label of requests for nothing we have; what they
// asked for is never a label.
const unrouted = "none"

func newMetrics(reg prometheus.Registerer, s *Server) (*metrics, error) {
	const namespace = "sundry"
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: "requests_total",
			Help: "Requests answered, by how."}, []string{"endpoint", "outcome", "class"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: "request_duration_seconds",
			Help: "Time from a request's arrival to the last byte handed over.",
			// Classic buckets alone: a native histogram beside them makes an
			// observation three times as dear, and every hit makes two.
			Buckets: []float64{.0001, .0005, .001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10}}, []string{"endpoint"}),
		limited: prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: "rate_limited_total",
			Help: "Requests refused because their client made too many."}),
		shed: prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: "shed_total",
			Help: "Requests refused because there was too much to do: no place to wait, or too much of the kind was being done."}),
	}
	gauge := func(name, help string, read func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, read)
	}
	inFlight := gauge("requests_in_flight", "Requests that wait for an answer; what the near tier has is served beside them.",
		func() float64 { waiting, _ := s.load.count(); return float64(waiting) })
	limit := gauge("requests_in_flight_limit", "Requests that may wait for an answer at once before more are shed.",
		func() float64 { _, limit := s.load.count(); return float64(limit) })
	share := gauge("shed_share", "Share of the requests that must wait for an answer which is shed because all work waits too long for a processor.",
		s.load.shed)
	clients := gauge("rate_limit_clients", "Clients that have not all of their burst back; 0 without a limit.",
		func() float64 { return float64(s.set.Load().rules.clients.count(time.Now())) })
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.requests, m.duration, m.limited, m.shed, inFlight, limit, share, clients, newEndpointCollector(s)} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// classes of statuses that an outcome comes with.
func (o outcome) classes() []int {
	switch o {
	case outcomeHit, outcomeStale, outcomeStaleError, outcomeMiss, outcomeCoalesced, outcomeBypass:
		return []int{2, 3, 4} // 4: the answer has no such form
	case outcomeNotModified:
		return []int{3}
	case outcomeError, outcomeShed:
		return []int{4, 5}
	}
	return []int{4}
}

// endpointMetrics are resolved once, so that counting a hit looks nothing up.
type endpointMetrics struct {
	requests [outcomes][6]prometheus.Counter
	duration prometheus.Observer
	traced   prometheus.ExemplarObserver // the same
}

func (m *metrics) endpoint(name string) *endpointMetrics {
	e := &endpointMetrics{duration: m.duration.WithLabelValues(name)}
	e.traced = e.duration.(prometheus.ExemplarObserver) // every histogram is one
	for o := range outcomes {
		for _, c := range o.classes() {
			e.requests[o][c] = m.requests.WithLabelValues(name, o.String(), string(rune('0'+c))+"xx")
		}
	}
	return e
}

// observe counts a request. The id is one that requestID let through: short,
// and of plain letters.
func (e *endpointMetrics) observe(o outcome, status int, took time.Duration, id string) {
	if c := e.requests[o][min(status/100, 5)]; c != nil {
		c.Inc()
	}
	if o.traced() {
		e.traced.ObserveWithExemplar(took.Seconds(), prometheus.Labels{"request_id": id})
		return
	}
	e.duration.Observe(took.Seconds())
}
