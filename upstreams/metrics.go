package upstreams

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"sundry/metrics"
	"sundry/upstreams/host"
)

// Metrics are the package's. Make them once per process.
type Metrics struct {
	attempts    *prometheus.CounterVec
	duration    *prometheus.HistogramVec
	failovers   *prometheus.CounterVec
	lastResorts *prometheus.CounterVec
	answered    *prometheus.GaugeVec
	withheld    *prometheus.CounterVec
}

// NewMetrics declares them and, with a registerer, registers them together
// with collectors of the hosts' breakers and of the quotas.
func NewMetrics(reg prometheus.Registerer, hosts *host.Hosts, quotas *host.Quotas) *Metrics {
	register := promauto.With(reg)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return register.NewCounterVec(prometheus.CounterOpts{Namespace: metrics.Namespace, Subsystem: "upstream", Name: name, Help: help}, labels)
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return register.NewGaugeVec(prometheus.GaugeOpts{Namespace: metrics.Namespace, Subsystem: "upstream", Name: name, Help: help}, labels)
	}
	m := &Metrics{
		attempts:    counter("attempts_total", "Calls of a source, by result.", "endpoint", "source", "result"),
		failovers:   counter("failovers_total", "Answers that came from a later source because an earlier one failed.", "endpoint"),
		lastResorts: counter("last_resorts_total", "Answers of last-resort sources.", "endpoint"),
		answered:    gauge("last_answer_timestamp_seconds", "Unix time of the last answer of a source, negative ones included; 0: not since the start.", "endpoint", "source"),
		withheld:    counter("withheld_refreshes_total", "Refreshes that were not made because the source has little of its quota left, which is kept for requests without a copy.", "endpoint", "source"),
		duration: register.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: metrics.Namespace, Subsystem: "upstream", Name: "attempt_duration_seconds",
			Help:    "Duration of calls of a source, whatever their result.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"endpoint", "source"}),
	}
	if reg != nil {
		reg.MustRegister(host.NewCollector(hosts, quotas))
	}
	return m
}

type sourceMetrics struct {
	attempts *prometheus.CounterVec
	success  prometheus.Counter // of attempts
	duration func() prometheus.Observer
	answered prometheus.Gauge
	withheld prometheus.Counter // nil for a source without a quota
}

// Calls counts what is called beside sources, such as the host of an API, as they are counted.
func (m *Metrics) Calls(endpoint, source string) (observe func(result string, took time.Duration)) {
	return m.source(endpoint, source).observe
}

// source resolves a source's series. Results that say something about the source or
// its host exist at zero, so that the first one is seen as an increase. Those that say
// something about the caller or the input, about the slots of this service, or that
// only sources with a rate have, do not: they would be a series of each source for
// nothing. Nor do durations before the first call: they are a dozen series of each
// source, and no alert waits for the first.
func (m *Metrics) source(endpoint, source string) sourceMetrics {
	s := sourceMetrics{
		attempts: m.attempts.MustCurryWith(prometheus.Labels{"endpoint": endpoint, "source": source}),
		duration: sync.OnceValue(func() prometheus.Observer { return m.duration.WithLabelValues(endpoint, source) }),
		answered: m.answered.WithLabelValues(endpoint, source),
	}
	s.success = s.attempts.WithLabelValues("success")
	for _, k := range []ErrorKind{Unavailable, Timeout, Limited, Malformed, Rejected, Internal} {
		s.attempts.WithLabelValues(k.String())
	}
	return s
}

func (s sourceMetrics) observe(result string, took time.Duration) {
	if result == "success" {
		s.success.Inc()
	} else {
		s.attempts.WithLabelValues(result).Inc()
	}
	if result == Skipped.String() && took == 0 || result == Throttled.String() {
		return // it was not called
	}
	s.duration().Observe(took.Seconds())
	if result == "success" || result == Negative.String() {
		s.answered.SetToCurrentTime()
	}
}

type chainMetrics struct{ failovers, lastResorts prometheus.Counter }

func (m *Metrics) chain(endpoint string) chainMetrics {
	return chainMetrics{m.failovers.WithLabelValues(endpoint), m.lastResorts.WithLabelValues(endpoint)}
}
