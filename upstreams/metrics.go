package upstreams

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the package's. Make them once per process.
type Metrics struct {
	attempts  *prometheus.CounterVec
	duration  *prometheus.HistogramVec
	failovers *prometheus.CounterVec
}

// NewMetrics declares them and, with a registerer, registers them together
// with a collector of the hosts' breakers.
func NewMetrics(reg prometheus.Registerer, hosts *Hosts) (*Metrics, error) {
	const namespace, subsystem = "sundry", "upstream"
	m := &Metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "attempts_total",
			Help: "Calls of a source, by how they went.",
		}, []string{"endpoint", "source", "result"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "attempt_duration_seconds",
			Help:    "Time a call of a source took, whatever came of it.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"endpoint", "source"}),
		failovers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "failovers_total",
			Help: "Answers that came from a later source because an earlier one failed.",
		}, []string{"endpoint"}),
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.attempts, m.duration, m.failovers, newBreakerCollector(hosts)} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

type sourceMetrics struct {
	attempts *prometheus.CounterVec
	duration prometheus.Observer
}

// source resolves a source's series; every result exists at zero.
func (m *Metrics) source(endpoint, source string) sourceMetrics {
	s := sourceMetrics{
		attempts: m.attempts.MustCurryWith(prometheus.Labels{"endpoint": endpoint, "source": source}),
		duration: m.duration.WithLabelValues(endpoint, source),
	}
	s.attempts.WithLabelValues("success")
	for k := range kinds {
		s.attempts.WithLabelValues(k.String())
	}
	return s
}

func (s sourceMetrics) observe(result string, took time.Duration) {
	s.attempts.WithLabelValues(result).Inc()
	s.duration.Observe(took.Seconds())
}

type chainMetrics struct{ failovers prometheus.Counter }

func (m *Metrics) chain(endpoint string) chainMetrics {
	return chainMetrics{m.failovers.WithLabelValues(endpoint)}
}

// breakerCollector asks the breakers at scrape: a breaker changes from open to
// half-open by the clock alone, and no callback would tell.
type breakerCollector struct {
	hosts *Hosts
	state *prometheus.Desc
}

func newBreakerCollector(hosts *Hosts) *breakerCollector {
	return &breakerCollector{hosts, prometheus.NewDesc("sundry_upstream_breaker_state",
		"1 for the state that the breaker of an upstream host is in, 0 for the others.", []string{"host", "state"}, nil)}
}

// Describe implements prometheus.Collector.
func (c *breakerCollector) Describe(ch chan<- *prometheus.Desc) { ch <- c.state }

// Collect implements prometheus.Collector.
func (c *breakerCollector) Collect(ch chan<- prometheus.Metric) {
	for _, h := range c.hosts.All() {
		now := h.State()
		for _, state := range []string{"closed", "half-open", "open"} {
			v := 0.0
			if state == now {
				v = 1
			}
			ch <- prometheus.MustNewConstMetric(c.state, prometheus.GaugeValue, v, h.Name, state)
		}
	}
}
