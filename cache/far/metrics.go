package far

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sony/gobreaker/v2"
)

type metrics struct {
	reads, writes *prometheus.CounterVec
	duration      prometheus.Histogram
	dropped       prometheus.Counter
	queued, open  prometheus.GaugeFunc
	size          *sizeCollector
}

func newMetrics(t *Tier) *metrics {
	const namespace, subsystem = "sundry", "far"
	m := &metrics{
		size: newSizeCollector(t),
		reads: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: "reads_total",
			Help: "Reads from Redis, by how they went; rejected: the breaker was open."}, []string{"result"}),
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: "writes_total",
			Help: "Writes behind to Redis, by how they went; dropped: the queue was full, or the write too old."}, []string{"result"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Subsystem: subsystem, Name: "read_duration_seconds",
			Help: "Time of reads from Redis.", Buckets: []float64{.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25}}),
		queued: prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Subsystem: subsystem, Name: "queue_entries",
			Help: "Writes that wait."}, func() float64 { return float64(len(t.queue.jobs)) }),
		open: prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Subsystem: subsystem, Name: "breaker_open",
			Help: "1 while Redis is left alone because it failed."}, func() float64 {
			if t.Healthy() {
				return 0
			}
			return 1
		}),
	}
	for _, r := range []string{"hit", "miss", "timeout", "error", "rejected"} {
		m.reads.WithLabelValues(r)
	}
	for _, r := range []string{"stored", "error", "rejected"} {
		m.writes.WithLabelValues(r)
	}
	m.dropped = m.writes.WithLabelValues("dropped")
	return m
}

func (m *metrics) register(reg prometheus.Registerer) error {
	for _, c := range []prometheus.Collector{m.reads, m.writes, m.duration, m.queued, m.open, m.size} {
		if err := reg.Register(c); err != nil {
			return err
		}
	}
	return nil
}

func (m *metrics) read(value []byte, err error, took time.Duration) {
	result := failure(err)
	switch {
	case err == nil && value != nil:
		result = "hit"
	case err == nil:
		result = "miss"
	}
	m.reads.WithLabelValues(result).Inc()
	if result != "rejected" {
		m.duration.Observe(took.Seconds())
	}
}

func (m *metrics) wrote(err error) {
	switch result := failure(err); {
	case err == nil:
		m.writes.WithLabelValues("stored").Inc()
	case result == "rejected":
		m.writes.WithLabelValues("rejected").Inc()
	default:
		m.writes.WithLabelValues("error").Inc()
	}
}

// failure names an error for a label.
func failure(err error) string {
	var network net.Error
	switch {
	case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests):
		return "rejected"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "timeout"
	}
	return "error"
}
